package point

import (
	"sync"
)

// Set is the points of one type that are known: those that were used, and those that lie in
// the program's data. The zero value is empty.
type Set[P comparable] struct {
	mu  sync.Mutex
	all map[P]bool
}

// Add makes a point known and reports whether it was not.
func (s *Set[P]) Add(p P) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[p] {
		return false
	}
	if s.all == nil {
		s.all = map[P]bool{}
	}
	s.all[p] = true
	return true
}

// List returns the points known, in no order.
func (s *Set[P]) List() []P {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []P
	for p := range s.all {
		list = append(list, p)
	}
	return list
}
