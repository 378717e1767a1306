package syntax

import (
	"fmt"
	"math"
	"strings"
)

// Kind is the kind of a token.
type Kind uint8

// The kinds of tokens.
const (
	EOF   Kind = iota
	Word       // identifiers and keywords
	Int        // integers and durations
	Str        // strings
	Var        // $name
	Param      // $1, $2, …
	Count      // $#
	Map        // @ or @name
	Punct      // operators and delimiters; Text has which
)

// Token is one word of a script.
type Token struct {
	Kind Kind
	Span
	Text  string // the name, the operator, or the content of a string
	Value uint64 // of Int and Param
}

// lexer splits a file into tokens.
type lexer struct {
	file *File
	pos  int
}

// puncts are the operators, longer ones before their beginnings.
var puncts = []string{
	"<<=", ">>=", "...",
	"<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "->", "..",
	"+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
	"{", "}", "(", ")", "[", "]", ",", ";", ":", "?", "=", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", ".", "#",
}

func isLetter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func (l *lexer) fail(s Span, hint, format string, args ...any) {
	panic(&Error{File: l.file, Span: s, Text: fmt.Sprintf(format, args...), Hint: hint})
}

// skip passes white space and comments.
func (l *lexer) skip() {
	text := l.file.Text
	for l.pos < len(text) {
		rest := text[l.pos:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			l.pos++
		case strings.HasPrefix(rest, "//"):
			l.pos += lineEnd(rest)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				l.fail(Span{l.pos, l.pos + 2}, "close it with */", "comment without an end")
			}
			l.pos += end + 4
		case l.pos == 0 && strings.HasPrefix(rest, "#!"):
			l.pos += lineEnd(rest)
		default:
			return
		}
	}
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// word returns the length of the identifier at the beginning of s.
func word(s string) (n int) {
	for n < len(s) && (isLetter(s[n]) || n > 0 && isDigit(s[n])) {
		n++
	}
	return n
}

// next returns the next token.
func (l *lexer) next() Token {
	l.skip()
	begin, rest := l.pos, l.file.Text[l.pos:]
	token := func(k Kind, n int, text string) Token {
		l.pos = begin + n
		return Token{Kind: k, Span: Span{begin, l.pos}, Text: text}
	}
	if rest == "" {
		return token(EOF, 0, "the end of the script")
	}
	switch c := rest[0]; {
	case isLetter(c):
		n := word(rest)
		return token(Word, n, rest[:n])
	case isDigit(c):
		return l.number()
	case c == '"':
		return l.text()
	case c == '@':
		n := 1 + word(rest[1:])
		return token(Map, n, rest[:n])
	case c == '$':
		return l.dollar(rest, token)
	case c == '\'':
		l.fail(Span{begin, begin + 1}, "write the number of the character, such as 65 for A, or a text in double quotes", "character literal")
	}
	for _, p := range puncts {
		if strings.HasPrefix(rest, p) {
			return token(Punct, len(p), p)
		}
	}
	l.fail(Span{begin, begin + 1}, "", "unexpected character %q", firstRune(rest))
	return Token{}
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

func (l *lexer) dollar(rest string, token func(Kind, int, string) Token) Token {
	begin := l.pos
	if n := word(rest[1:]); n > 0 {
		return token(Var, 1+n, rest[:1+n])
	}
	if strings.HasPrefix(rest, "$#") {
		return token(Count, 2, "$#")
	}
	n, v := 1, uint64(0)
	for n < len(rest) && isDigit(rest[n]) && n < 6 {
		v = v*10 + uint64(rest[n]-'0')
		n++
	}
	if v == 0 || n < len(rest) && isDigit(rest[n]) {
		l.fail(Span{begin, begin + 1}, "a variable is $name, a parameter $1 or $#", "$ without a name")
	}
	t := token(Param, n, rest[:n])
	t.Value = v
	return t
}

// units are the suffixes of durations, in nanoseconds.
var units = map[string]uint64{
	"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9, "d": 24 * 3600e9,
}

// number reads an integer: decimal, octal, hexadecimal, 1e6, with _ between digits, with C's suffixes or a duration's unit.
func (l *lexer) number() Token {
	begin, text := l.pos, l.file.Text
	end := begin
	for end < len(text) && (isDigit(text[end]) || isLetter(text[end])) {
		end++
	}
	span := Span{begin, end}
	element := begin > 0 && text[begin-1] == '.' // of a tuple, as in $t.0.1
	if rest := text[end:]; !element && len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		l.fail(Span{begin, end + 2}, "write an integer in a smaller unit, such as 1500ms", "floating-point literal")
	}
	v, err := ParseInt(text[begin:end])
	if err != "" {
		l.fail(span, "", "%q %s", text[begin:end], err)
	}
	l.pos = end
	return Token{Kind: Int, Span: span, Text: text[begin:end], Value: v}
}

// ParseInt returns the value of an integer or duration literal, or what is wrong with it.
func ParseInt(literal string) (v uint64, wrong string) {
	s := strings.ReplaceAll(literal, "_", "")
	base := uint64(10)
	switch {
	case strings.HasPrefix(s, "0x") || strings.HasPrefix(s, "0X"):
		base, s = 16, s[2:]
	case len(s) > 1 && s[0] == '0' && isDigit(s[1]):
		base, s = 8, s[1:]
	}
	n := 0
	for n < len(s) {
		d := digit(s[n])
		if d >= base {
			break
		}
		if v > (math.MaxUint64-d)/base {
			return 0, "is over the largest integer, 18446744073709551615"
		}
		v = v*base + d
		n++
	}
	if n == 0 || base == 8 && n < len(s) && isDigit(s[n]) {
		return 0, "is not a number"
	}
	return suffix(v, s[n:])
}

// suffix applies what follows the digits of a number.
func suffix(v uint64, s string) (uint64, string) {
	factor := uint64(1)
	switch {
	case s == "":
		return v, ""
	case units[s] != 0:
		factor = units[s]
	case isCSuffix(s):
		return v, ""
	case (s[0] == 'e' || s[0] == 'E') && len(s) > 1 && len(s) <= 3 && strings.Trim(s[1:], "0123456789") == "":
		exponent := 0
		for _, c := range s[1:] {
			exponent = exponent*10 + int(c-'0')
		}
		for range min(exponent, 20) {
			if factor > math.MaxUint64/10 {
				return 0, "is over the largest integer, 18446744073709551615"
			}
			factor *= 10
		}
	default:
		return 0, "is not a number"
	}
	if v != 0 && factor > math.MaxUint64/v {
		return 0, "is over the largest integer, 18446744073709551615"
	}
	return v * factor, ""
}

func isCSuffix(s string) bool {
	switch strings.ToLower(s) {
	case "u", "l", "ul", "lu", "ll", "ull", "llu":
		return true
	}
	return false
}

func digit(c byte) uint64 {
	switch {
	case isDigit(c):
		return uint64(c - '0')
	case 'a' <= c && c <= 'f':
		return uint64(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return uint64(c-'A') + 10
	}
	return math.MaxUint64
}

// text reads a string with its escapes.
func (l *lexer) text() Token {
	begin, text := l.pos, l.file.Text
	var b strings.Builder
	for i := begin + 1; i < len(text); {
		switch c := text[i]; c {
		case '"':
			l.pos = i + 1
			return Token{Kind: Str, Span: Span{begin, l.pos}, Text: b.String()}
		case '\\':
			c, n := escape(text[i+1:])
			if n == 0 {
				l.fail(Span{i, min(i+2, len(text))}, `use \n, \t, \r, \", \\, \xNN or an octal \NNN`, "unknown escape in a string")
			}
			b.WriteByte(c)
			i += 1 + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	l.fail(Span{begin, begin + 1}, `close it with "`, "string without an end")
	return Token{}
}

// escape returns the byte of an escape after its backslash and the length of it, 0 for an unknown one.
func escape(s string) (c byte, n int) {
	if s == "" {
		return 0, 0
	}
	switch s[0] {
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case '"', '\\':
		return s[0], 1
	case 'x':
		v, n := digits(s[1:], 16, 2)
		if n == 0 {
			return 0, 0
		}
		return v, 1 + n
	}
	return digits(s, 8, 3)
}

func digits(s string, base uint64, most int) (v byte, n int) {
	value := uint64(0)
	for n < most && n < len(s) && digit(s[n]) < base {
		value = value*base + digit(s[n])
		n++
	}
	return byte(value), n
}
