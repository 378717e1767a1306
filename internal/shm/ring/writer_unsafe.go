package ring

import (
	"sync/atomic"
	"unsafe"
)

// Writer writes one ring. Its owner is whoever is pinned to the P of its number, and nobody else
// calls its methods: that is what makes plain stores enough. It allocates nothing, waits
// for nobody and trusts nothing that a reader can write. The race detector does not see that owners follow each
// other; it is not told of these methods.
type Writer struct {
	writer
	_ [128 - unsafe.Sizeof(writer{})%128]byte // no two in one cache line, nor in the pair that a processor fetches
}

type writer struct {
	// What others read comes first, so that it is aligned on every platform. The ring has copies of the
	// counts of losses, for its readers.
	events, full, filtered, truncated uint64

	at    uint64 // the end of what is published
	limit uint64 // the end of the sub-buffer that at lies in
	mask  uint64

	context  recordContext // of the next record
	data     unsafe.Pointer
	control  *control
	consumed *uint64
	sub      uint64
	mode     Mode
}

func (w *Writer) init(f *File, ring uint64) {
	w.writer = writer{
		data: f.at(f.g.dataAt(ring)), mask: f.g.ringSize() - 1, sub: f.g.sub, mode: f.g.mode,
		control: (*control)(f.at(f.g.controlAt(ring))), consumed: (*uint64)(f.at(f.g.consumedAt(ring))),
	}
}

// HeaderOf returns the first word of records of an event of size bytes, but for the time that Since returns.
func HeaderOf(event int, size uint64) uint64 { return recordWord(uint64(event), size) }

// Since returns the time of a record in the context that is.
//
//go:norace
func (w *Writer) Since(ticks uint64) uint64 { return ticks - w.context.ticks }

// Fits reports whether a record of size bytes can be written at once: the sub-buffer has room
// for it, and the context is its own. If not, Begin makes it so.
//
//go:norace
func (w *Writer) Fits(size, since, goroutine uint64) bool {
	return w.at+size <= w.limit && since>>timeBits == 0 && w.context.goroutine == goroutine
}

// Room is where the next record goes, once it fits. A record that is not committed never happened.
//
//go:norace
func (w *Writer) Room() unsafe.Pointer { return unsafe.Add(w.data, uintptr(w.at&w.mask)) }

// Commit publishes the record of size bytes that was written where Room said.
//
//go:norace
func (w *Writer) Commit(size uint64) {
	w.at += size
	w.count()
	publish(&w.control.head, w.at) // invariant 2: behind all of the record
}

// Begin makes room for a record of size bytes of which the time is the context's. It reports
// false, and has counted the event as lost, when there is none to be had.
//
//go:noinline
//go:norace
func (w *Writer) Begin(size, ticks, goroutine uint64) bool {
	c := recordContext{ticks, goroutine}
	if w.at+contextSize+size > w.limit {
		return w.turn(size, c)
	}
	room := w.Room()
	*(*uint64)(room) = recordWord(newContext, contextSize)
	*(*recordContext)(unsafe.Add(room, 8)) = c
	w.context = c
	w.at += contextSize // published together with the record
	return true
}

// turn begins the next sub-buffer, in a context.
//
//go:norace
func (w *Writer) turn(size uint64, c recordContext) bool {
	next := w.limit // 0 at first
	if size > w.sub-subHeaderSize {
		w.lose()
		return false
	}
	capacity := w.mask + 1
	if w.mode == Discard {
		if next+w.sub-atomic.LoadUint64(w.consumed) > capacity { // of a reader that lies: unsigned, so full
			w.lose()
			return false
		}
	} else if next+w.sub > capacity {
		publish(&w.control.oldest, next+w.sub-capacity) // invariant 4: before any of it is overwritten
		fence()
	}
	if w.at < next {
		*(*uint64)(w.Room()) = recordWord(padding, 8)
	}
	h := (*subHeader)(unsafe.Add(w.data, uintptr(next&w.mask)))
	h.position, h.events, h.full, h.recordContext = next, w.events, w.full, c
	w.at, w.limit, w.context = next+subHeaderSize, next+w.sub, c
	return true // published together with the record
}

//go:norace
func (w *Writer) lose() { add(&w.full, &w.control.full) }

// add adds one to a count that only this writer changes, and to its copy in the ring.
//
//go:norace
func add(count, copied *uint64) {
	n := *count + 1
	publish(count, n)
	publish(copied, n)
}

// Filtered counts an event that a filter kept out, and Truncated an argument that was cut.
//
//go:norace
func (w *Writer) Filtered() { add(&w.filtered, &w.control.filtered) }

//go:norace
func (w *Writer) Truncated() { add(&w.truncated, &w.control.truncated) }

// Count counts an event, in a ring that does nothing else. The event's number is less than File.Counters.
//
//go:norace
func (w *Writer) Count(event uintptr) {
	n := (*uint64)(unsafe.Add(w.data, event*8))
	publish(n, *n+1)
	w.count()
}
