package ring

import (
	"sync/atomic"
	"unsafe"
)

// Writer writes one ring. Its owner is whoever is pinned to the P of its number, and nobody else
// calls its methods: that is what makes plain stores enough. It allocates nothing, waits
// for nobody and trusts nothing that a reader can write.
type Writer struct {
	writer
	_ [128 - unsafe.Sizeof(writer{})%128]byte // no two in one cache line, nor in the pair that a processor fetches
}

type writer struct {
	at    uint64 // the end of what is published
	limit uint64 // the end of the sub-buffer that at lies in
	data  unsafe.Pointer
	mask  uint64

	control  *control
	consumed *uint64
	sub      uint64
	events   uint64
	mode     Mode
}

func (w *Writer) init(f *File, ring uint64) {
	w.writer = writer{
		data: f.at(f.g.dataAt(ring)), mask: f.g.ringSize() - 1, sub: f.g.sub, mode: f.g.mode,
		control: (*control)(f.at(f.g.controlAt(ring))), consumed: (*uint64)(f.at(f.g.consumedAt(ring))),
	}
}

// Fits reports whether the current sub-buffer has room for size bytes, a multiple of 8 with the
// record's header.
func (w *Writer) Fits(size uint64) bool { return w.at+size <= w.limit }

// Room is where the next record goes, once it fits. A record that is not committed never happened.
func (w *Writer) Room() unsafe.Pointer { return unsafe.Add(w.data, uintptr(w.at&w.mask)) }

// Commit publishes the record of size bytes that was written where Room said.
func (w *Writer) Commit(size uint64) {
	w.at += size
	publish(&w.events, w.events+1)
	publish(&w.control.head, w.at) // invariant 2: behind all of the record
}

// Turn begins the next sub-buffer for a record of size bytes that did not fit; ticks is when. It
// reports false, and has counted the event as lost, when there is none to be had.
//
//go:noinline
//go:norace
func (w *Writer) Turn(size, ticks uint64) bool {
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
		*(*uint64)(unsafe.Add(w.data, uintptr(w.at&w.mask))) = padding<<32 | (next - w.at)
	}
	h := (*subHeader)(unsafe.Add(w.data, uintptr(next&w.mask)))
	h.position, h.events, h.full, h.ticks = next, w.events, w.control.full, ticks
	w.at, w.limit = next+subHeaderSize, next+w.sub
	publish(&w.control.events, w.events)
	publish(&w.control.head, w.at)
	return true
}

func (w *Writer) lose() { publish(&w.control.full, w.control.full+1) }

// Filtered counts an event that a filter kept out, and Truncated an argument that was cut.
func (w *Writer) Filtered()  { publish(&w.control.filtered, w.control.filtered+1) }
func (w *Writer) Truncated() { publish(&w.control.truncated, w.control.truncated+1) }
