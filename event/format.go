package event

import (
	"errors"
	"strconv"
	"strings"
)

// Verb is one conversion of a format string.
type Verb struct {
	Name string // of the field: the word before it, or argN, counting from 1
	Text string // as written, "%08lx"
	Char byte   // the conversion, 'x'
}

// MaxFormat bounds a format string, in bytes.
const MaxFormat = 4096

// ParseFormat returns the verbs of a marker's format: words and printf conversions, such as
// "prev_pid %d next_pid %d" or "path=%s". The word before a verb names the field. C's length
// modifiers are accepted and mean nothing: the Go type knows its size.
func ParseFormat(format string) ([]Verb, error) {
	verbs, err := Verbs(format)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, v := range verbs {
		if seen[v.Name] {
			return nil, errors.New("format " + strconv.Quote(format) + " names two fields " + v.Name)
		}
		seen[v.Name] = true
	}
	return verbs, nil
}

// Verbs is ParseFormat for formats whose arguments have names of their own, as those of
// simple markers: two of its verbs may follow the same word.
func Verbs(format string) ([]Verb, error) {
	if len(format) > MaxFormat {
		return nil, errors.New("format has " + strconv.Itoa(len(format)) + " bytes, at most " + strconv.Itoa(MaxFormat) + " are allowed")
	}
	var verbs []Verb
	from := 0 // where the text before the next verb begins
	for i := 0; i < len(format); i++ {
		if format[i] == 0 {
			return nil, errors.New("format " + strconv.Quote(format) + " has a NUL at byte " + strconv.Itoa(i))
		}
		if format[i] != '%' {
			continue
		}
		v, n, err := parseVerb(format[i:])
		if err != nil {
			return nil, errors.New("format " + strconv.Quote(format) + ", byte " + strconv.Itoa(i) + ": " + err.Error())
		}
		if v.Char != '%' {
			v.Name = wordBefore(format[from:i])
			if v.Name == "" {
				v.Name = "arg" + strconv.Itoa(len(verbs)+1)
			}
			verbs = append(verbs, v)
			from = i + n
		}
		i += n - 1
	}
	return verbs, nil
}

// parseVerb reads one conversion at the start of s and returns its length.
func parseVerb(s string) (v Verb, n int, err error) {
	n = 1
	skip := func(set string) {
		for n < len(s) && strings.IndexByte(set, s[n]) >= 0 {
			n++
		}
	}
	skip("#0- +") // flags
	skip("0123456789.")
	skip("hlLqjzt")
	// 'q', 't' and 'L' are both lengths of C and conversions of Go: the last one read is the
	// conversion when nothing else follows that could be.
	if n > 1 && (n == len(s) || !isConversion(s[n])) && isConversion(s[n-1]) {
		n--
	}
	if n >= len(s) {
		return v, n, errors.New("verb " + strconv.Quote(s) + " has no conversion")
	}
	c := s[n]
	n++
	if c == '%' && n > 2 || !isConversion(c) && c != '%' {
		return v, n, errors.New("verb " + strconv.Quote(s[:n]) + " is not one of %d %i %u %x %X %o %b %c %p %s %q %f %e %g %t %v")
	}
	return Verb{Text: s[:n], Char: c}, n, nil
}

func isConversion(c byte) bool { return strings.IndexByte("diuxXobcpsqfFeEgGtv", c) >= 0 }

// wordBefore returns the last word of s when only blanks and punctuation follow it.
func wordBefore(s string) string {
	end := len(s)
	for end > 0 && !isWord(s[end-1]) {
		end--
	}
	start := end
	for start > 0 && isWord(s[start-1]) {
		start--
	}
	return s[start:end]
}

// Check parses a marker's format against the kinds of its arguments.
func Check(format string, args []Kind) ([]Verb, error) {
	verbs, err := ParseFormat(format)
	if err != nil {
		return nil, err
	}
	if len(verbs) != len(args) {
		return nil, errors.New("format " + strconv.Quote(format) + " has " + strconv.Itoa(len(verbs)) + " verbs for " + strconv.Itoa(len(args)) + " arguments")
	}
	for i, v := range verbs {
		if !v.Accepts(args[i]) {
			return nil, errors.New("format " + strconv.Quote(format) + ": " + v.Text + " cannot print field " + v.Name + ", which is " + args[i].String() + "; try %" + args[i].natural())
		}
	}
	return verbs, nil
}
