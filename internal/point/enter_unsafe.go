package point

import (
	"sync/atomic"
	"unsafe"
)

// getg returns the address of this goroutine's descriptor in the runtime, which no other
// goroutine has meanwhile. The descriptor never moves.
func getg() uintptr

func (s *State) address() uintptr { return uintptr(unsafe.Pointer(s)) }

// Enter begins a call of the point's probes and counts the hit. It returns nil when the
// probes must not be called: a probe of this point has marked it, or too many lie in between.
// Between Enter and Leave the probes are loaded and called.
func (s *State) Enter() *Caller {
	c := current()
	c.count(s)
	if c.depth != 0 && !c.mayEnter(s) {
		return nil
	}
	f := &c.frames[c.depth]
	c.depth++
	put(&f.entries, f.entries+1)
	put(&f.point, s.address()) // invariant 1: before the caller loads the probes
	return c
}

// mayEnter refuses recursion without bound.
//
//go:noinline
func (c *Caller) mayEnter(s *State) bool {
	if c.depth == maxDepth {
		s.nested.Add(1)
		return false
	}
	for i := range c.depth {
		if c.frames[i].point == s.address() {
			s.nested.Add(1)
			return false
		}
	}
	return true
}

// Leave ends what Enter began.
func (c *Caller) Leave() {
	c.depth--
	put(&c.frames[c.depth].point, 0)
}

// Scratch is where the innermost call keeps what it wants to use again in later calls of
// this goroutine.
func (c *Caller) Scratch() *any { return &c.frames[c.depth-1].scratch }

// Count counts a hit that calls no probe.
func (s *State) Count() { current().count(s) }

func (c *Caller) count(s *State) {
	t := &c.tallies[s.address()>>7%uintptr(len(c.tallies))] // states are some 128 bytes apart
	if t.point.Load() != s || narrow && t.hits == ^uintptr(0) {
		t.take(s)
	}
	put(&t.hits, t.hits+1)
}

// narrow is true where a tally can overflow in a program's life.
const narrow = unsafe.Sizeof(uintptr(0)) < 8

// take makes the tally another point's. A reader in between may count hits twice, never
// too few.
//
//go:noinline
func (t *tally) take(s *State) {
	if was := t.point.Load(); was != nil {
		was.hits.Add(uint64(t.hits))
	}
	put(&t.hits, 0)
	t.point.Store(s)
}

// Hits returns how often the point was passed while enabled: exactly, once it is not passed
// any more.
func (s *State) Hits() uint64 {
	var sum uint64
	each(func(c *Caller) {
		for i := range c.tallies {
			if t := &c.tallies[i]; t.point.Load() == s {
				sum += uint64(atomic.LoadUintptr(&t.hits))
			}
		}
	})
	return sum + s.hits.Load()
}
