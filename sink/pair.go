package sink

import (
	"errors"
	"strconv"
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

// Check returns what is wrong with the pair, nil when nothing is.
func (p Pair) Check() error {
	switch {
	case p.Begin == "" || p.End == "":
		return errors.New("pair " + strconv.Quote(p.String()) + ": both ends need a name")
	case p.Begin == p.End:
		return errors.New("pair " + strconv.Quote(p.String()) + ": it begins and ends with one marker")
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
