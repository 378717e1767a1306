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
	g := getg()
	c := tables.current.Load().first(g)
	if c == nil || c.g != g {
		c = lookup(g)
	}
	c.acquire()
	if t := c.tally(s); t.point.Load() != s {
		t.take(s)
	} else {
		put(&t.hits, t.hits+1)
	}
	f := &c.frames[0]
	if c.depth != 0 {
		if f = c.nested(s); f == nil {
			return nil
		}
	}
	c.depth++
	put(&f.entries, f.entries+1)
	put(&f.point, s.address()) // invariant 1: before the caller loads the probes
	return c
}

// nested returns the frame for a pass that a probe makes, nil when it may call no probe.
//
//go:noinline
func (c *Caller) nested(s *State) *frame {
	if c.depth == maxDepth {
		s.nested.Add(1)
		return nil
	}
	for i := range c.depth {
		if c.frames[i].point == s.address() {
			s.nested.Add(1)
			return nil
		}
	}
	return &c.frames[c.depth]
}

// Leave ends what Enter began.
func (c *Caller) Leave() {
	c.depth--
	put(&c.frames[c.depth].point, 0)
	c.release()
}

// Scratch is where the innermost call keeps what it wants to use again in later calls of
// this goroutine.
func (c *Caller) Scratch() *any { return &c.frames[c.depth-1].scratch }

// Count counts a hit that calls no probe.
func (s *State) Count() {
	c := current()
	c.acquire()
	if t := c.tally(s); t.point.Load() != s {
		t.take(s)
	} else {
		put(&t.hits, t.hits+1)
	}
	c.release()
}

// tally returns where this goroutine counts hits of a point, among others.
func (c *Caller) tally(s *State) *tally {
	return &c.tallies[s.address()>>7%uintptr(len(c.tallies))] // states are some 128 bytes apart
}

// take makes the tally that of another point, and counts one hit. A reader may meanwhile count
// hits twice, never too few.
//
//go:noinline
func (t *tally) take(s *State) {
	if was := t.point.Load(); was != nil {
		was.hits.Add(uint64(t.hits))
	}
	put(&t.hits, 1)
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
