package point

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State is what a point needs once somebody looks at it. Points keep theirs for good, so a
// site may hold it for as long as it likes.
type State struct {
	mu     sync.Mutex
	arms   int
	serial uint64                   // of the last probe
	probes atomic.Pointer[[]*Probe] // in the order they were connected

	hits, nested, panics atomic.Uint64

	waiting sync.Mutex // one waiter at a time: it looks at every goroutine's record
}

// Probes returns the probes to call, in the order they were connected.
func (s *State) Probes() []*Probe {
	if list := s.probes.Load(); list != nil {
		return *list
	}
	return nil
}

// Nested returns how many passes called no probe because a probe of the point made them.
func (s *State) Nested() uint64 { return s.nested.Load() }

// Panics returns how many probes panicked and were disconnected.
func (s *State) Panics() uint64 { return s.panics.Load() }

// Arms returns how often the point was armed and not disarmed.
func (s *State) Arms() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arms
}

// Connect adds a probe to the end of the list. There is an error only where that arms.
func (s *State) Connect(p *Probe) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serial++
	p.state, p.serial = s, s.serial
	before := s.Probes()
	list := append(slices.Clone(before), p)
	s.probes.Store(&list)
	if p.Arms != nil {
		if err := s.setArms(p.Arms, s.arms+1); err != nil {
			s.probes.Store(&before)
			return err
		}
	}
	return nil
}

// disconnect takes a probe off the list and reports whether it was on it.
func (s *State) disconnect(p *Probe) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.Probes()
	if !slices.Contains(list, p) {
		return false
	}
	list = slices.DeleteFunc(slices.Clone(list), func(q *Probe) bool { return q == p })
	s.probes.Store(&list)
	if p.Arms != nil {
		_ = s.setArms(p.Arms, s.arms-1) // which reports errors of arming only
	}
	return true
}

// wait returns when every call that could have seen an older list has returned.
func (s *State) wait() {
	s.waiting.Lock()
	defer s.waiting.Unlock()
	fence() // invariant 2
	each(func(c *Caller) {
		for i := range c.frames {
			s.waitFor(&c.frames[i])
		}
	})
}

// waitFor waits until a frame is of another call than the one that it is of now.
func (s *State) waitFor(f *frame) {
	if atomic.LoadUintptr(&f.point) != s.address() {
		return
	}
	entries := atomic.LoadUintptr(&f.entries)
	for pause := time.Microsecond; atomic.LoadUintptr(&f.point) == s.address() && atomic.LoadUintptr(&f.entries) == entries; {
		if pause < time.Millisecond {
			runtime.Gosched()
			pause *= 2
		} else {
			time.Sleep(time.Millisecond)
		}
	}
}
