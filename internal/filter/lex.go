package filter

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// token is a word, a literal or a sign. The zero value is the end.
type token struct {
	sort   tokenSort
	text   string // of names and signs as written, of texts the value
	bits   uint64 // of integers and characters, and of durations their nanoseconds
	number float64
	column int
}

type tokenSort uint8

const (
	end tokenSort = iota
	name
	sign
	integer
	decimal
	duration
	text
)

// signs are the operators, the longer ones first.
var signs = []string{"||", "&&", "==", "!=", "<=", ">=", "!~", "=~", "<", ">", "~", "!", "(", ")", "&", "+", "-", "="}

// lex splits a condition into tokens, the last of which is the end.
func lex(s string) ([]token, error) {
	if len(s) > MaxLength {
		return nil, &Error{1, fmt.Sprintf("the condition has %d bytes", len(s)), fmt.Sprintf("at most %d are taken", MaxLength)}
	}
	var all []token
	column := 1
	for {
		trimmed := strings.TrimLeft(s, " \t\r\n")
		column += len(s) - len(trimmed)
		s = trimmed
		t, n, err := next(s)
		t.column = column
		if err != "" {
			return nil, &Error{Column: column, Reason: err}
		}
		all = append(all, t)
		if t.sort == end {
			return all, nil
		}
		column += utf8.RuneCountInString(s[:n])
		s = s[n:]
	}
}

// next returns the first token of s, its length, and what is wrong with it.
func next(s string) (t token, n int, problem string) {
	if s == "" {
		return token{}, 0, ""
	}
	switch c := s[0]; {
	case isLetter(c):
		for n < len(s) && (isLetter(s[n]) || isDigit(s[n])) {
			n++
			n += member(s[n:])
		}
		return token{sort: name, text: s[:n]}, n, ""
	case isDigit(c):
		return number(s)
	case c == '"' || c == '`':
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return t, 0, "this text has no end, or an escape that does not exist"
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return t, 0, "this text has an escape that does not exist"
		}
		return token{sort: text, text: value}, len(quoted), ""
	case c == '\'':
		r, _, rest, err := strconv.UnquoteChar(s[1:], '\'')
		if err != nil || !strings.HasPrefix(rest, "'") {
			return t, 0, "a character is written as in 'a' or '\\n', a text as in \"abc\""
		}
		return token{sort: integer, bits: uint64(r)}, len(s) - len(rest) + 1, ""
	}
	for _, sg := range signs {
		if strings.HasPrefix(s, sg) {
			return token{sort: sign, text: sg}, len(sg), ""
		}
	}
	r, _ := utf8.DecodeRuneInString(s)
	return t, 0, fmt.Sprintf("%q has no meaning here", r)
}

// member is how long the dot or arrow is that s begins with when the name of a member follows:
// variables have such, as req.Method and cmd->len.
func member(s string) int {
	for _, sg := range []string{".", "->"} {
		if n := len(sg); strings.HasPrefix(s, sg) && len(s) > n && isLetter(s[n]) {
			return n
		}
	}
	return 0
}

// number reads an integer as Go writes it, a number with a fraction or an exponent, or a duration
// as time.ParseDuration takes it.
func number(s string) (t token, n int, problem string) {
	for n < len(s) {
		if isLetter(s[n]) || isDigit(s[n]) || s[n] == '.' || n > 0 && (s[n] == '-' || s[n] == '+') && isExponent(s[:n]) {
			n++
		} else if micro := microAt(s[n:]); micro > 0 {
			n += micro
		} else {
			break
		}
	}
	word := s[:n]
	if bits, err := strconv.ParseUint(word, 0, 64); err == nil {
		return token{sort: integer, text: word, bits: bits}, n, ""
	}
	if strings.ContainsAny(word, ".eEpP") {
		if f, err := strconv.ParseFloat(word, 64); err == nil {
			return token{sort: decimal, text: word, number: f}, n, ""
		}
	}
	if d, err := time.ParseDuration(word); err == nil {
		return token{sort: duration, text: word, bits: uint64(d)}, n, ""
	}
	return t, 0, fmt.Sprintf("%.40s is no number of 64 bits", word)
}

// microAt returns the length of the sign for micro with which s begins: the SI's, or a Greek letter.
func microAt(s string) int {
	for _, micro := range []string{"µ", "μ"} {
		if strings.HasPrefix(s, micro+"s") {
			return len(micro)
		}
	}
	return 0
}

// isExponent reports whether a sign may follow: 1e-9, but 0xe-9 is a difference.
func isExponent(s string) bool {
	hex := strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X")
	c := s[len(s)-1]
	return !hex && (c == 'e' || c == 'E') || hex && (c == 'p' || c == 'P')
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
