package point

import (
	"sync/atomic"
	"unsafe"
)

// getg returns the address of this goroutine's descriptor in the runtime, which no other
// goroutine has meanwhile. The descriptor never moves.
func getg() uintptr

// A Call is the state of one goroutine in one point.
type Call struct {
	point unsafe.Pointer // a *State

	// count goes up by one when the goroutine enters the point and when it leaves it: it is
	// inside while count is odd. Half of it are hits that are not yet added to the point's own:
	// adding each at once would make all processors write one word.
	count uintptr

	scratch unsafe.Pointer // kept for the next call: see Scratch
}

func (c *Call) of(s *State) bool { return atomic.LoadPointer(&c.point) == unsafe.Pointer(s) }
func (c *Call) inside() bool     { return c.count&1 != 0 }

// home returns the first call to try for a point.
func (c *caller) home(s *State) *Call {
	return (*Call)(unsafe.Add(unsafe.Pointer(c), atomic.LoadUintptr(&s.home)))
}

var settled atomic.Uint32

// settle gives the point a home of its own, as long as there are no more points than homes;
// s.mu is held.
func (s *State) settle() {
	if !s.settled {
		s.settled = true
		atomic.StoreUintptr(&s.home, uintptr(settled.Add(1)%maxDepth)*unsafe.Sizeof(Call{}))
	}
}

// Enter begins a call of the point's probes and counts the hit. It returns nil when the
// probes must not be called: a probe of this point has marked it, or too many lie in between.
// Between Enter and Leave the probes are loaded and called.
func (s *State) Enter() *Call {
	g := getg()
	caller := (*table)(atomic.LoadPointer(&current)).at(g, 0)
	c := caller.home(s)
	if caller.g != g { // three tests, because of one the compiler makes a value first
		return s.enter(g)
	}
	if !c.of(s) {
		return s.enter(g)
	}
	caller.acquire()
	if c.inside() {
		return s.enter(g)
	}
	put(&c.count, c.count+1) // invariant 1: before the caller loads the probes
	return c
}

// Leave undoes Enter.
func (c *Call) Leave() {
	put(&c.count, c.count+1)
	c.release()
}

// enter is Enter for a record that is not in its first slot.
//
//go:noinline
func (s *State) enter(g uintptr) *Call {
	c := s.call(g)
	if c == nil {
		s.hits.Add(1)
		s.nested.Add(1)
		return nil
	}
	put(&c.count, c.count+1)
	return c
}

// Count counts a hit that calls no probe.
func (s *State) Count() {
	if c := s.call(getg()); c != nil {
		put(&c.count, c.count+2)
		c.release()
	} else {
		s.hits.Add(1)
	}
}

// Scratch is where package marker keeps the Event that later calls of this goroutine use again. It
// is no interface, because the methods of an Event would then be part of every program.
func (c *Call) Scratch() *unsafe.Pointer { return &c.scratch }

// call returns the call of the goroutine with descriptor g for the point: nil when the goroutine is
// in the point already, or in too many.
func (s *State) call(g uintptr) *Call {
	caller := lookup(g)
	caller.acquire()
	free := caller.home(s)
	for i := range caller.calls {
		switch c := &caller.calls[i]; {
		case c.of(s) && c.inside():
			return nil
		case c.of(s):
			return c
		case c.inside():
		case free.inside() || free.point != nil && c.point == nil:
			free = c
		}
	}
	if free.inside() {
		return nil
	}
	free.take(s)
	return free
}

// take makes the call one of another point. A reader may meanwhile count hits twice, never
// too few.
func (c *Call) take(s *State) {
	if was := (*State)(c.point); was != nil {
		was.hits.Add(uint64(c.count / 2))
	}
	put(&c.count, 0)
	atomic.StorePointer(&c.point, unsafe.Pointer(s))
}

// Hits returns how often the point was passed while enabled: exactly, once it is not passed
// any more. On platforms of 32 bits, those of one goroutine wrap after 2^31.
func (s *State) Hits() uint64 {
	var sum uint64
	each(func(caller *caller) {
		for i := range caller.calls {
			if c := &caller.calls[i]; c.of(s) {
				sum += (uint64(atomic.LoadUintptr(&c.count)) + 1) / 2
			}
		}
	})
	return sum + s.hits.Load()
}
