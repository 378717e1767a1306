package sink

import (
	"fmt"
	"slices"

	"github.com/waymark-trace/waymark/marker"
)

// Pair names two markers between which something takes its time.
type Pair struct {
	Begin, End string // as declared, provider:name; no patterns

	// Key is the name of an argument, which both markers have and by which an end finds its
	// begin: the id of a request, say. Integers, strings, []byte, booleans and pointers can be keys, floats cannot.
	//
	// Without a key the two are joined by goroutine: the end must be marked by the goroutine
	// that marked the begin.
	Key string
}

// Check returns what is wrong with the pair, nil when nothing is: a name that is missing, or a
// key that is no argument of the markers that there are so far.
func (p Pair) Check() error {
	switch {
	case p.Begin == "" || p.End == "":
		return fmt.Errorf("pair %q: both ends need a name", p)
	case p.Begin == p.End:
		return fmt.Errorf("pair %q: it begins and ends with one marker", p)
	case p.Key == "":
		return nil
	}
	for _, m := range marker.All() {
		isKey := func(f marker.Field) bool { return f.Name == p.Key }
		if (m.Name == p.Begin || m.Name == p.End) && !m.Pending && !slices.ContainsFunc(m.Fields, isKey) {
			return fmt.Errorf("pair %q: marker %q has no argument %q, its format is %q", p, m.Name, p.Key, m.Format)
		}
	}
	return nil
}

// String returns "begin → end", and the key where there is one.
func (p Pair) String() string {
	s := p.Begin + " → " + p.End
	if p.Key != "" {
		s += " by " + p.Key
	}
	return s
}
