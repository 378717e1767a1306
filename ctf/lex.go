package ctf

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// token is a word of metadata.
type token struct {
	kind tokenKind
	text string // words and marks as written, the values of literals
	bits uint64 // of numbers
	at   int
}

type tokenKind uint8

const (
	endToken tokenKind = iota
	wordToken
	numberToken
	stringToken
	markToken
)

func (t *token) String() string {
	switch t.kind {
	case endToken:
		return "the end"
	case stringToken:
		return fmt.Sprintf("text %.40q", t.text)
	}
	return fmt.Sprintf("%.40q", t.text)
}

// lexer divides metadata into tokens (specification, appendix C.1).
type lexer struct {
	src string
	at  int
}

// marks are those of more than one character, and then all others.
var marks = []string{"...", ":=", "->"}

const singles = "[](){}<>*+-:;.,="

func (l *lexer) next() (token, error) {
	if err := l.skip(); err != nil {
		return token{at: l.at}, err
	}
	if l.at == len(l.src) {
		return token{at: l.at}, nil
	}
	t := token{at: l.at}
	rest := l.src[l.at:]
	c := rest[0]
	switch {
	case c == '"' || c == '\'':
		return l.literal(t, c)
	case strings.HasPrefix(rest, `L"`) || strings.HasPrefix(rest, "L'"):
		l.at++
		return l.literal(t, rest[1])
	case '0' <= c && c <= '9':
		return l.number(t)
	case isWordByte(c):
		t.kind, t.text = wordToken, rest[:wordLength(rest)]
	default:
		t.kind = markToken
		for _, m := range marks {
			if strings.HasPrefix(rest, m) {
				t.text = m
			}
		}
		if t.text == "" {
			if strings.IndexByte(singles, c) < 0 {
				return t, fmt.Errorf("character %q", c)
			}
			t.text = rest[:1]
		}
	}
	l.at += len(t.text)
	return t, nil
}

func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func wordLength(s string) int {
	n := 0
	for n < len(s) && isWordByte(s[n]) {
		n++
	}
	return n
}

// skip skips blanks and comments.
func (l *lexer) skip() error {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch {
		case strings.IndexByte(" \t\r\n\f\v", rest[0]) >= 0:
			l.at++
		case strings.HasPrefix(rest, "//"):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			l.at += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return errors.New("comment without an end")
			}
			l.at += n + 4
		default:
			return nil
		}
	}
	return nil
}

func (l *lexer) number(t token) (token, error) {
	rest := l.src[l.at:]
	t.kind, t.text = numberToken, rest[:wordLength(rest)]
	digits := strings.TrimRight(t.text, "uUlL")
	n, err := strconv.ParseUint(digits, 0, 64)
	if err != nil || strings.Contains(digits, "_") {
		return t, fmt.Errorf("%.40q is no integer of 64 bits", t.text)
	}
	t.bits = n
	l.at += len(t.text)
	return t, nil
}

// literal reads a text in quotes, or a character, which is a number.
func (l *lexer) literal(t token, quote byte) (token, error) {
	var b []byte
	i := l.at + 1
	for ; ; i++ {
		switch {
		case i >= len(l.src):
			return t, errors.New("text without an end")
		case l.src[i] == quote:
			t.kind, t.text = stringToken, string(b)
			l.at = i + 1
			if quote == '\'' {
				if len(b) != 1 {
					return t, fmt.Errorf("character of %d bytes", len(b))
				}
				t.kind, t.bits = numberToken, uint64(b[0])
			}
			return t, nil
		case l.src[i] == '\\':
			c, n := escape(l.src[i+1:])
			if n == 0 {
				return t, fmt.Errorf("escape %.4q", l.src[i:])
			}
			b = append(b, c...)
			i += n
		default:
			b = append(b, l.src[i])
		}
	}
}

// escape returns the character for the escape sequence at the beginning of s, which follows a backslash,
// and the length of the sequence, 0 if there is none.
func escape(s string) ([]byte, int) {
	if s == "" {
		return nil, 0
	}
	if i := strings.IndexByte(`abfnrtv"'\?`, s[0]); i >= 0 {
		return []byte{"\a\b\f\n\r\t\v\"'\\?"[i]}, 1
	}
	base, digits := 8, 0
	body := s
	if s[0] == 'x' {
		base, body = 16, s[1:]
	}
	n := 0
	for digits < len(body) && n <= 0xff && (base == 16 || digits < 3) {
		i := strings.IndexByte("0_1_2_3_4_5_6_7_8_9_aAbBcCdDeEfF", body[digits])
		d := i / 2
		if i < 0 || d >= base || body[digits] == '_' {
			break
		}
		n = n*base + d
		digits++
	}
	if digits == 0 || n > 0xff {
		return nil, 0
	}
	return []byte{byte(n)}, len(s) - len(body) + digits
}
