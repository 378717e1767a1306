package point

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A caller is the record of one goroutine: only that goroutine writes it. Others read points
// and counts, so those are written by put.
type caller struct {
	calls [maxDepth]Call
	g     uintptr // the goroutine's descriptor in the runtime

	_ [64 - unsafe.Sizeof(uintptr(0))]byte // whole cache lines: two goroutines must not write one
}

// maxDepth is the number of points that a goroutine may be in at once: a probe of one marks the
// next. Deeper hits are counted as nested and call no probe.
const maxDepth = 8

// table finds records by g: open addressing, at most half full. It only grows, into a new
// table; readers of the old one find its old entries. A free slot holds an empty record, so that the
// first lookup needs no test.
type table struct {
	slots   *unsafe.Pointer // the first of some power of two *caller
	mask    uintptr         // the range of a distance in bytes
	records int             // under tables
}

var (
	tables   sync.Mutex
	current  = unsafe.Pointer(&noTable) // a *table
	noTable  = table{slots: &freeSlot}
	freeSlot = unsafe.Pointer(&nobody)
	nobody   caller
)

const (
	firstSlots = 64
	multiplier = 0x51fc7853 // neighbouring descriptors of 416 to 512 bytes seldom share a home
)

// at returns the record that is n slots after the home of g.
func (t *table) at(g, n uintptr) *caller { return (*caller)(atomic.LoadPointer(t.slot(g, n))) }

func (t *table) slot(g, n uintptr) *unsafe.Pointer {
	const size = unsafe.Sizeof(t.slots)
	return (*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(t.slots), (g*multiplier>>16+n*size)&t.mask))
}

// find returns the record of g, nil when it has none.
func find(g uintptr) *caller {
	t := (*table)(atomic.LoadPointer(&current))
	for n := uintptr(0); ; n++ {
		switch c := t.at(g, n); c.g {
		case g:
			return c
		case 0:
			return nil
		}
	}
}

// lookup returns the record of g, made at first use.
func lookup(g uintptr) *caller {
	if c := find(g); c != nil {
		return c
	}
	tables.Lock()
	defer tables.Unlock()
	t := (*table)(atomic.LoadPointer(&current))
	if 2*(t.records+1) > t.size() {
		t = t.grown()
		atomic.StorePointer(&current, unsafe.Pointer(t))
	}
	c := &caller{g: g}
	t.insert(c)
	return c
}

func (t *table) size() int { return int(t.mask/unsafe.Sizeof(t.slots)) + 1 }

func (t *table) grown() *table {
	size := max(firstSlots, 2*t.size())
	slots := make([]unsafe.Pointer, size)
	for i := range slots {
		slots[i] = unsafe.Pointer(&nobody)
	}
	bigger := &table{slots: unsafe.SliceData(slots), mask: uintptr(size-1) * unsafe.Sizeof(slots[0])}
	t.each(bigger.insert)
	return bigger
}

func (t *table) insert(c *caller) {
	n := uintptr(0)
	for t.at(c.g, n) != &nobody {
		n++
	}
	atomic.StorePointer(t.slot(c.g, n), unsafe.Pointer(c))
	t.records++
}

func (t *table) each(fn func(*caller)) {
	for n := range uintptr(t.size()) {
		if c := t.at(0, n); c != &nobody {
			fn(c)
		}
	}
}

// each calls fn for every record that there is.
func each(fn func(*caller)) { (*table)(atomic.LoadPointer(&current)).each(fn) }

// InsideProbe reports whether this goroutine is in a call from a point to its probes.
func InsideProbe() bool {
	c := find(getg())
	if c == nil {
		return false
	}
	c.acquire()
	for i := range c.calls {
		if c.calls[i].inside() {
			return true
		}
	}
	return false
}
