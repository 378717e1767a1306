package marker

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// appendFormat prints values by a format that event.ParseFormat took apart into verbs. It is
// not package fmt because importing that makes a program allocate at its start.
func appendFormat(b []byte, format string, verbs []event.Verb, values []Value) []byte {
	for i := 0; i < len(format); {
		switch {
		case format[i] != '%':
			end := i + 1
			for end < len(format) && format[end] != '%' {
				end++
			}
			b = append(b, format[i:end]...)
			i = end
		case len(verbs) > 0 && strings.HasPrefix(format[i:], verbs[0].Text):
			b = appendVerb(b, verbs[0], values[0])
			i += len(verbs[0].Text)
			verbs, values = verbs[1:], values[1:]
		default: // %%
			b = append(b, '%')
			i += 2
		}
	}
	return b
}

// spec is a verb's flags, width and precision.
type spec struct {
	alt, zero, minus, plus, space bool
	width, precision              int // precision -1 for none
}

func parseSpec(text string) (s spec) {
	s.precision = -1
	i := 1
	for ; i < len(text) && strings.IndexByte("#0- +", text[i]) >= 0; i++ {
		switch text[i] {
		case '#':
			s.alt = true
		case '0':
			s.zero = true
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		}
	}
	number := func() (n int) {
		for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
			n = min(10*n+int(text[i]-'0'), maxWidth)
		}
		return n
	}
	s.width = number()
	if i < len(text) && text[i] == '.' {
		i++
		s.precision = number()
	}
	return s
}

// maxWidth bounds the width and precision of a format.
const maxWidth = 1 << 10

// appendVerb prints one value as C's printf would: a verb and a kind that do not go together
// were refused when the format was checked, but for %v, which prints everything.
func appendVerb(b []byte, verb event.Verb, v Value) []byte {
	s := parseSpec(verb.Text)
	var room [64]byte
	text, numeric := s.text(room[:0], verb.Char, v)
	pad := max(0, s.width-len(text))
	switch {
	case s.minus:
		b = append(b, text...)
		return appendRepeat(b, ' ', pad)
	case s.zero && numeric:
		sign := prefixLen(text)
		b = append(b, text[:sign]...)
		b = appendRepeat(b, '0', pad)
		return append(b, text[sign:]...)
	}
	b = appendRepeat(b, ' ', pad)
	return append(b, text...)
}

// prefixLen returns the length of the part before padding zeros: a sign, and 0x.
func prefixLen(text []byte) int {
	n := 0
	if len(text) > 0 && (text[0] == '-' || text[0] == '+' || text[0] == ' ') {
		n = 1
	}
	if rest := text[n:]; bytes.HasPrefix(rest, []byte("0x")) || bytes.HasPrefix(rest, []byte("0X")) {
		n += 2
	}
	return n
}

func appendRepeat(b []byte, c byte, n int) []byte {
	for range n {
		b = append(b, c)
	}
	return b
}

// text returns a value without its padding, and whether zeros may pad it.
func (s *spec) text(b []byte, char byte, v Value) (text []byte, numeric bool) {
	switch {
	case v.kind == event.Bool:
		return strconv.AppendBool(b, v.Bool()), false
	case v.kind.HasLength():
		return s.bytes(b, char, v), false
	case v.kind.IsFloat():
		return s.float(b, char, v), true
	case v.kind == event.Duration && (char == 's' || char == 'v'):
		return append(b, cut(s, time.Duration(v.bits).String())...), false
	case char == 'c':
		return append(b, string(rune(v.Int()))...), false
	default:
		return s.integer(b, char, v), true
	}
}

func (s *spec) integer(b []byte, char byte, v Value) []byte {
	base, prefix := 10, false
	switch {
	case char == 'p' || v.kind == event.Pointer:
		base, prefix = 16, true
	case char == 'x' || char == 'X':
		base, prefix = 16, s.alt
	case char == 'o':
		base = 8
	case char == 'b':
		base = 2
	}
	magnitude, negative := v.Uint(), false
	if v.kind.Signed() && v.Int() < 0 {
		magnitude, negative = uint64(-v.Int()), true
	}
	switch {
	case negative:
		b = append(b, '-')
	case s.plus && v.kind.Signed():
		b = append(b, '+')
	case s.space && v.kind.Signed():
		b = append(b, ' ')
	}
	if prefix {
		b = append(b, '0', 'x')
	}
	var room [64]byte
	digits := strconv.AppendUint(room[:0], magnitude, base)
	b = appendRepeat(b, '0', s.precision-len(digits))
	at := len(b)
	b = append(b, digits...)
	if char == 'X' {
		for i, c := range b[at:] {
			b[at+i] = upper(c)
		}
	}
	return b
}

func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		return c - 'a' + 'A'
	}
	return c
}

func (s *spec) float(b []byte, char byte, v Value) []byte {
	bits := 64
	if v.kind == event.Float32 {
		bits = 32
	}
	precision := s.precision
	switch char {
	case 'v':
		char = 'g'
	case 'F':
		char = 'f'
	case 'f', 'e', 'E':
		if precision < 0 {
			precision = 6
		}
	}
	if s.plus && v.Float() >= 0 {
		b = append(b, '+')
	}
	return strconv.AppendFloat(b, v.Float(), char, precision, bits)
}

// cut returns as much of a text as the precision allows.
func cut[T string | []byte](s *spec, text T) T {
	if s.precision >= 0 && s.precision < len(text) {
		return text[:s.precision]
	}
	return text
}

func (s *spec) bytes(b []byte, char byte, v Value) []byte {
	var text []byte
	if v.kind == event.Bytes {
		text = v.Bytes()
	} else {
		text = []byte(v.Text())
	}
	text = cut(s, text)
	switch char {
	case 'q':
		return strconv.AppendQuote(b, string(text))
	case 'x', 'X':
		digits := "0123456789abcdef"
		if char == 'X' {
			digits = "0123456789ABCDEF"
		}
		for _, c := range text {
			b = append(b, digits[c>>4], digits[c&15])
		}
		return b
	}
	return append(b, text...)
}
