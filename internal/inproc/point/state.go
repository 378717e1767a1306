package point

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State holds the data that a point needs once it is used. Points keep theirs for good, so a site may
// hold it for any time.
type State struct {
	// home is where goroutines keep their Call of the point, if it is free: a distance from the
	// first.
	home    uintptr
	settled bool

	Recordings Recordings // see State.Record

	mu     sync.Mutex
	arms   int
	probes atomic.Pointer[Node] // in the order they were connected

	hits, nested, panics atomic.Uint64

	waiting sync.Mutex // one waiter at a time: it reads every goroutine's record
}

// Node is a place in a list of probes, which never changes.
type Node struct {
	Probe *Probe
	Next  *Node
}

// First returns the list of probes to call, in the order they were connected.
func (s *State) First() *Node { return s.probes.Load() }

// Probes returns the probes to call, in the order they were connected.
func (s *State) Probes() []*Probe {
	var list []*Probe
	for n := s.First(); n != nil; n = n.Next {
		list = append(list, n.Probe)
	}
	return list
}

func (s *State) setProbes(list []*Probe) {
	var first *Node
	for _, p := range slices.Backward(list) {
		first = &Node{p, first}
	}
	s.probes.Store(first)
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
	p.state = s
	s.settle()
	before := s.First()
	s.setProbes(append(s.Probes(), p))
	if p.Arms != nil {
		if err := s.setArms(p.Arms, s.arms+1); err != nil {
			s.probes.Store(before)
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
	s.setProbes(slices.DeleteFunc(list, func(q *Probe) bool { return q == p }))
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
	each(func(caller *caller) {
		for i := range caller.calls {
			s.waitFor(&caller.calls[i])
		}
	})
}

// waitFor waits until a goroutine that is in the point has left it. It may have come back since.
func (s *State) waitFor(c *Call) {
	if !c.of(s) {
		return
	}
	count := atomic.LoadUintptr(&c.count)
	if count&1 == 0 {
		return
	}
	for pause := time.Microsecond; c.of(s) && atomic.LoadUintptr(&c.count) == count; {
		if pause < time.Millisecond {
			runtime.Gosched()
			pause *= 2
		} else {
			time.Sleep(time.Millisecond)
		}
	}
}
