package sink

import (
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/marker"
)

// Pair names two markers between which something takes its time.
type Pair struct {
	Begin, End string // as declared, provider:name; no patterns

	// Key is the name of the argument by which an end finds its begin, such as the id of a
	// request. Integers, strings, []byte, booleans and pointers can be keys, floats cannot.
	//
	// Without a key the two are paired by goroutine: the end must be marked by the goroutine
	// that marked the begin.
	Key string

	// EndKey is the end's name of that argument, if it differs.
	EndKey string
}

// Keys returns the name of the key at the begin and at the end, both "" when goroutines join the two.
func (p Pair) Keys() (begin, end string) {
	if p.EndKey == "" {
		return p.Key, p.Key
	}
	return p.Key, p.EndKey
}

// Check returns an error if a name is missing, or if the key is no argument of the markers that
// exist so far.
func (p Pair) Check() error {
	switch {
	case p.Begin == "" || p.End == "":
		return fmt.Errorf("pair %q: both ends need a name", p)
	case p.Begin == p.End:
		return fmt.Errorf("pair %q: it begins and ends with one marker", p)
	case p.Key == "" && p.EndKey != "":
		return fmt.Errorf("pair %q: the begin needs a key, too", p)
	case p.Key == "":
		return nil
	}
	begin, end := p.Keys()
	for _, m := range marker.All() {
		for name, key := range map[string]string{p.Begin: begin, p.End: end} {
			isKey := func(f marker.Field) bool { return f.Name == key }
			if m.Name == name && !m.Pending && !slices.ContainsFunc(m.Fields, isKey) {
				return fmt.Errorf("pair %q: marker %q has no argument %q, its format is %q", p, m.Name, key, m.Format)
			}
		}
	}
	return nil
}

// String returns "begin → end", and the keys where there are any.
func (p Pair) String() string {
	s := p.Begin + " → " + p.End
	if p.Key != "" {
		s += " by " + p.Key
	}
	if p.EndKey != "" {
		s += " = " + p.EndKey
	}
	return s
}
