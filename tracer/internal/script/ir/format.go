package ir

import (
	"fmt"
	"strings"
)

// Verb is one conversion of a format.
type Verb struct {
	Left, Plus, Space, Alternate, Zero bool
	Width                              int
	Precision                          int // -1 without one
	Bits                               int // that an integer is cut to: 8, 16, 32 or 64
	Conversion                         string
}

// Format is a parsed format of printf.
type Format struct {
	Texts []string // before each verb, and after the last
	Verbs []Verb
}

// maxWidth bounds the width and the precision of a verb.
const maxWidth = 4096

// ParseFormat parses a format. Its error is a sentence about the part that is wrong.
func ParseFormat(s string) (*Format, error) {
	f := &Format{}
	var text strings.Builder
	for {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			text.WriteString(s)
			f.Texts = append(f.Texts, text.String())
			return f, nil
		}
		text.WriteString(s[:i])
		v, n, err := parseVerb(s[i+1:])
		if err != nil {
			return nil, err
		}
		s = s[i+1+n:]
		if v.Conversion == "%" {
			text.WriteByte('%')
			continue
		}
		f.Texts = append(f.Texts, text.String())
		text.Reset()
		f.Verbs = append(f.Verbs, v)
	}
}

// conversions are the ends of verbs, longer ones before their beginnings.
var conversions = []string{"rx", "rh", "r", "d", "i", "o", "u", "x", "X", "e", "E", "f", "F", "g", "G", "c", "s", "p", "%"}

// parseVerb parses what follows a percent sign, and returns its length.
func parseVerb(s string) (v Verb, n int, err error) {
	v.Precision = -1
flags:
	for ; n < len(s); n++ {
		switch s[n] {
		case '-':
			v.Left = true
		case '+':
			v.Plus = true
		case ' ':
			v.Space = true
		case '#':
			v.Alternate = true
		case '0':
			v.Zero = true
		default:
			break flags
		}
	}
	number := func() (value int) {
		for ; n < len(s) && '0' <= s[n] && s[n] <= '9' && value <= maxWidth; n++ {
			value = value*10 + int(s[n]-'0')
		}
		return value
	}
	v.Width = number()
	if n < len(s) && s[n] == '.' {
		n++
		v.Precision = number()
	}
	if v.Width > maxWidth || v.Precision > maxWidth {
		return v, n, fmt.Errorf("a width or precision is over %d", maxWidth)
	}
	v.Bits = 32
	for modifier := true; modifier && n < len(s); {
		switch {
		case strings.HasPrefix(s[n:], "hh"):
			v.Bits, n = 8, n+2
		case s[n] == 'h':
			v.Bits, n = 16, n+1
		case strings.IndexByte("lLjzt", s[n]) >= 0:
			v.Bits, n = 64, n+1
		default:
			modifier = false
		}
	}
	for _, c := range conversions {
		if strings.HasPrefix(s[n:], c) {
			v.Conversion = c
			return v, n + len(c), nil
		}
	}
	if strings.HasPrefix(s[n:], "*") {
		return v, n, fmt.Errorf("a width is a number, * is not supported")
	}
	end := min(n+1, len(s))
	return v, n, fmt.Errorf("unknown conversion %q", "%"+s[:end])
}

// Takes reports whether the verb prints values of a type.
func (v *Verb) Takes(t Type) bool {
	switch v.Conversion {
	case "s":
		return t.Base != None && !t.IsHistogram() && !(t.Base == Agg && t.Agg == Stats)
	case "r", "rx", "rh":
		return t.Base == Buffer
	case "e", "E", "f", "F", "g", "G":
		return t.Base == Float
	}
	return t.IsInt() || t.Base == Bool || t.Base == Pointer
}
