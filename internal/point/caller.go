package point

import (
	"sync"
	"sync/atomic"
)

// A Caller is the record of one goroutine: only that goroutine writes it. Others read frames and
// tallies, so those are written by put.
type Caller struct {
	g     uintptr // the goroutine's descriptor in the runtime
	depth int     // frames in use

	// frames are the points whose probes this goroutine is calling, outermost first.
	frames [maxDepth]frame

	// tallies are hits that are not yet added to their points: adding each at once would
	// make all processors write one word.
	tallies [4]tally
}

// maxDepth is how many points a goroutine may be in at once: a probe of one marks the next.
// Deeper passes are counted as nested and call nobody.
const maxDepth = 8

type frame struct {
	point   uintptr // a *State, 0 when the frame is free
	entries uintptr // by this frame, ever
	scratch any     // kept for the next call: see Scratch
}

type tally struct {
	point atomic.Pointer[State]
	hits  uintptr
}

// table finds records by g: open addressing, at most half full. It only grows, into a new
// table; readers of the old one find what was in it.
type table struct {
	slots   []atomic.Pointer[Caller] // a power of two of them
	records int                      // under tables.Mutex
}

var tables struct {
	sync.Mutex
	current atomic.Pointer[table]
}

const firstSlots = 64

// home is where the record of g is looked for first. Descriptors have some 500 bytes, and the
// runtime allocates them in blocks.
func (t *table) home(g uintptr) uintptr { return (g>>5 ^ g>>9 ^ g>>16) & uintptr(len(t.slots)-1) }

// current returns the record of this goroutine. Its first try is written out where it counts:
// a function of this size is not inlined.
func current() *Caller {
	g := getg()
	if c := tables.current.Load().first(g); c != nil && c.g == g {
		return c
	}
	return lookup(g)
}

// first returns the record that is in the home of g, if any.
func (t *table) first(g uintptr) *Caller {
	if t == nil {
		return nil
	}
	return t.slots[t.home(g)].Load()
}

//go:noinline
func lookup(g uintptr) *Caller {
	if r := find(g); r != nil {
		return r
	}
	tables.Lock()
	defer tables.Unlock()
	t := tables.current.Load()
	if t == nil || 2*(t.records+1) > len(t.slots) {
		t = t.grown()
		tables.current.Store(t)
	}
	r := &Caller{g: g}
	t.insert(r)
	return r
}

// find returns the record of g, nil when it has none.
func find(g uintptr) *Caller {
	t := tables.current.Load()
	if t == nil {
		return nil
	}
	for i := t.home(g); ; i = (i + 1) & uintptr(len(t.slots)-1) {
		if r := t.slots[i].Load(); r == nil || r.g == g {
			return r
		}
	}
}

func (t *table) grown() *table {
	if t == nil {
		return &table{slots: make([]atomic.Pointer[Caller], firstSlots)}
	}
	bigger := &table{slots: make([]atomic.Pointer[Caller], 2*len(t.slots))}
	for i := range t.slots {
		if r := t.slots[i].Load(); r != nil {
			bigger.insert(r)
		}
	}
	return bigger
}

func (t *table) insert(r *Caller) {
	i := t.home(r.g)
	for t.slots[i].Load() != nil {
		i = (i + 1) & uintptr(len(t.slots)-1)
	}
	t.slots[i].Store(r)
	t.records++
}

// each calls fn for every record that there is.
func each(fn func(*Caller)) {
	if t := tables.current.Load(); t != nil {
		for i := range t.slots {
			if r := t.slots[i].Load(); r != nil {
				fn(r)
			}
		}
	}
}

// InsideProbe reports whether this goroutine is in a call from a point to its probes.
func InsideProbe() bool {
	r := find(getg())
	if r == nil {
		return false
	}
	r.acquire()
	return r.depth > 0
}
