package filter

import (
	"errors"
	"fmt"
)

// Pattern decides whether a text is one of those that a pattern describes. It is a machine
// that reads the text once, byte by byte, and holds a set of states in the bits of a word: state
// i says that the first i elements of the pattern were found. (R. Baeza-Yates and G. Gonnet, "A
// new approach to text searching", CACM 35(10), 1992.) No text makes it go back, so that its
// cost in the kernel has a bound that the verifier sees.
type Pattern struct {
	// Next has for each byte the states that it takes to the following one.
	Next [256]uint64
	// Stay are the states that any byte leaves as they are: a * comes next.
	Stay uint64
	// Last is the state in which all was found.
	Last uint
}

// MaxElements is how many characters a pattern may have, besides *: with one more state, and a bit to
// spare for the engine, they fit a word.
const MaxElements = 62

// MaxText is the longest text that patterns are compared with as a whole. Of a longer one the
// first bytes decide, and when they do not, it is no match.
const MaxText = 1015

// literal is the pattern of one text.
func literal(s string) (*Pattern, error) {
	p := &Pattern{}
	for i := range len(s) {
		if err := p.element(func(c byte) bool { return c == s[i] }); err != nil {
			return nil, fmt.Errorf("%w; a pattern such as ~ \"SELECT*\" can do with less", err)
		}
	}
	return p, nil
}

// glob is the pattern of texts: * stands for any bytes, ? for one, [a-z] for one of these,
// [^a-z] for one of the others, \ takes the next character as it is.
func glob(s string) (*Pattern, error) {
	p := &Pattern{}
	for i := 0; i < len(s); {
		c := s[i]
		i++
		var err error
		switch c {
		case '*':
			p.Stay |= 1 << p.Last
		case '?':
			err = p.element(func(byte) bool { return true })
		case '[':
			var set [256]bool
			if set, i, err = class(s, i); err == nil {
				err = p.element(func(c byte) bool { return set[c] })
			}
		case '\\':
			if i == len(s) {
				return nil, errors.New(`the pattern ends in \`)
			}
			c = s[i]
			i++
			fallthrough
		default:
			err = p.element(func(b byte) bool { return b == c })
		}
		if err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Pattern) element(is func(byte) bool) error {
	if p.Last == MaxElements {
		return fmt.Errorf("it is longer than %d characters", MaxElements)
	}
	for c := range p.Next {
		if is(byte(c)) {
			p.Next[c] |= 1 << p.Last
		}
	}
	p.Last++
	return nil
}

// class reads what follows a [, and returns where it ends.
func class(s string, i int) (set [256]bool, end int, err error) {
	open := errors.New("a [ in the pattern has no ]")
	not := i < len(s) && s[i] == '^'
	if not {
		i++
	}
	one := func() (c byte, ok bool) {
		if i < len(s) && s[i] == '\\' {
			i++
		}
		if i >= len(s) {
			return 0, false
		}
		c = s[i]
		i++
		return c, true
	}
	for first := true; ; first = false {
		if i >= len(s) {
			return set, i, open
		}
		if s[i] == ']' && !first {
			break
		}
		lo, ok := one()
		hi := lo
		if ok && i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			i++
			hi, ok = one()
		}
		if !ok {
			return set, i, open
		}
		if lo > hi {
			return set, i, fmt.Errorf("%c-%c in the pattern is no range", lo, hi)
		}
		for c := int(lo); c <= int(hi); c++ {
			set[c] = true
		}
	}
	if not {
		for c := range set {
			set[c] = !set[c]
		}
	}
	return set, i + 1, nil
}

// Match reports whether a text is one of those that the pattern describes.
func (p *Pattern) Match(text []byte) bool {
	state, last := uint64(1), uint64(1)<<p.Last
	any := p.Stay & last // once there, whatever follows
	for _, c := range text[:min(len(text), MaxText+1)] {
		if state&any != 0 {
			break
		}
		state = state&p.Stay | (state&p.Next[c])<<1
	}
	return state&any != 0 || state&last != 0 && len(text) <= MaxText
}
