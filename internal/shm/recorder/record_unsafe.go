package recorder

import (
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// record is what a marker calls with its arguments while it is recorded. From procPin to procUnpin
// it is the owner of the P's rings. norace because one goroutine follows another on a P without anything
// that the race detector sees.
//
// What is written out here is the usual case: one session, and arguments of a fixed size.
//
//go:norace
func record(s *point.State, args unsafe.Pointer) {
	p := procPin()
	l := load(s) // invariant 6: pinned before it looks
	if l == nil || uint(p) >= uint(len(l.writers)) {
		if l != nil && l.known() {
			l.write(p, args)
			procUnpin()
			return
		}
		procUnpin()
		if l != nil {
			describe(s, args)
		}
		return
	}
	w := &l.writers[p]
	if *l.on == 0 {
		procUnpin()
		return
	}
	if l.filter != nil && !l.filter.holds(args) {
		w.Filtered()
		procUnpin()
		return
	}
	ticks, g := l.stamp()
	goroutine := numberAt(g, l.goid)
	since := w.Since(ticks)
	if !w.Fits(l.size, since, goroutine) {
		if !w.Begin(l.size, ticks, goroutine) {
			procUnpin()
			return
		}
		since = 0
	}
	room := w.Room()
	*(*uint64)(room) = l.header | since
	if l.pair {
		// Word by word, as they were stored: one wide load would have to wait for both.
		*(*uint64)(unsafe.Add(room, ring.RecordHeader)) = *(*uint64)(args)
		*(*uint64)(unsafe.Add(room, ring.RecordHeader+8)) = *(*uint64)(unsafe.Add(args, 8))
	} else {
		l.fill(room, args)
	}
	w.Commit(l.size)
	procUnpin()
}

// describe is record where a session has not yet described the marker.
//
//go:norace
//go:noinline
func describe(s *point.State, args unsafe.Pointer) {
	for {
		p := procPin()
		l := load(s)
		if l == nil || l.known() {
			l.write(p, args)
			procUnpin()
			return
		}
		procUnpin()
		for _, r := range l.all {
			if err := r.describe(); err != nil {
				r.session.problem(err)
			}
		}
		relist(s)
	}
}

// known reports whether all sessions have described the marker.
func (l *list) known() bool {
	for _, r := range l.all {
		if r.plan.Load() == nil {
			return false
		}
	}
	return true
}

// write records an event in all sessions.
//
//go:norace
func (l *list) write(p int, args unsafe.Pointer) {
	if l == nil {
		return
	}
	for _, r := range l.all {
		r.plan.Load().write(p, args)
	}
}

// layout is how the arguments of a marker are written in a session.
type layout struct {
	writers []ring.Writer
	stamp   func() (ticks uint64, g uintptr)
	header  uint64  // of a record, but for its time and its texts
	size    uint64  // of a record without texts
	words   uintptr // of arguments
	tail    uintptr // bytes of arguments behind the last whole word
	pair    bool    // there are two words and no tail: the most usual of all
	on      *uint32 // Session.on
	goid    uintptr // where the number is in a goroutine's descriptor, 0 when that is not known
	filter  *program
}

// plan is a layout with all that makes it unusual.
type plan struct {
	layout
	pieces  []piece // of the arguments; nil where they are taken at once
	texts   []piece // the headers of those that have a length
	most    uint64  // bytes of a text that are kept
	session *Session
	refused bool
	counts  bool    // the session only counts
	event   uintptr // its number
}

// piece is where an argument lies in the point's, and where in the event.
type piece struct{ from, to, size uintptr }

// write records an event. The caller is pinned to P p.
//
//go:norace
func (pl *plan) write(p int, args unsafe.Pointer) {
	if pl.session.on == 0 {
		return
	}
	if uint(p) >= uint(len(pl.writers)) {
		pl.lose()
		return
	}
	w := &pl.writers[p]
	if pl.filter != nil && !pl.filter.holds(args) {
		w.Filtered()
		return
	}
	if pl.counts {
		w.Count(pl.event)
		return
	}
	size, header, cut := pl.size, pl.header, false
	for i := range pl.texts {
		n := uint64(*(*uintptr)(unsafe.Add(args, pl.texts[i].from+word)))
		if n > pl.most {
			n, cut = pl.most, true
		}
		size += n
	}
	if pl.texts != nil {
		size = (size + 7) &^ 7
		header += ring.HeaderOf(0, size-pl.size)
	}
	ticks, g := pl.stamp()
	goroutine := uint64(0)
	if pl.goid != 0 {
		goroutine = numberAt(g, pl.goid)
	}
	since := w.Since(ticks)
	if !w.Fits(size, since, goroutine) {
		if !w.Begin(size, ticks, goroutine) {
			return
		}
		since = 0
	}
	room := w.Room()
	*(*uint64)(unsafe.Add(room, size-8)) = 0 // what is behind the texts
	if pl.pieces == nil {
		pl.fill(room, args)
	} else {
		pl.gather(room, args)
	}
	if pl.texts != nil {
		pl.fillTexts(room, args)
	}
	*(*uint64)(room) = header | since
	w.Commit(size)
	if cut {
		w.Truncated()
	}
}

// numberAt reads the number of this goroutine.
func numberAt(g, goid uintptr) uint64 {
	return *(*uint64)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&g)), goid))
}

// fill writes the arguments of a record, but not its texts.
//
//go:norace
//go:noinline
func (l *layout) fill(room, args unsafe.Pointer) {
	room = unsafe.Add(room, ring.RecordHeader)
	for i := uintptr(0); i < l.words; i++ {
		*(*uint64)(unsafe.Add(room, i*8)) = *(*uint64)(unsafe.Add(args, i*8))
	}
	if l.tail != 0 {
		room, args = unsafe.Add(room, l.words*8), unsafe.Add(args, l.words*8)
		*(*uint64)(room) = 0
		copy(unsafe.Slice((*byte)(room), l.tail), unsafe.Slice((*byte)(args), l.tail))
	}
}

// gather is fill where some arguments are not recorded.
//
//go:norace
func (pl *plan) gather(room, args unsafe.Pointer) {
	room = unsafe.Add(room, ring.RecordHeader)
	clear(unsafe.Slice((*byte)(room), pl.size-ring.RecordHeader))
	for i := range pl.pieces {
		p := &pl.pieces[i]
		to, from := unsafe.Add(room, p.to), unsafe.Add(args, p.from)
		switch p.size {
		case 8: // nearly all: a call to copy so little takes as long as the rest
			*(*uint64)(to) = *(*uint64)(from)
		case 4:
			*(*uint32)(to) = *(*uint32)(from)
		default:
			copy(unsafe.Slice((*byte)(to), p.size), unsafe.Slice((*byte)(from), p.size))
		}
	}
}

// word is a machine word: a text is two, its pointer and its length.
const word = unsafe.Sizeof(uintptr(0))

// fillTexts writes the bytes of texts behind the arguments, and how many they are in the place of
// their pointers.
//
//go:norace
func (pl *plan) fillTexts(room, args unsafe.Pointer) {
	to := unsafe.Add(room, pl.size)
	for i := range pl.texts {
		t := &pl.texts[i]
		from := unsafe.Add(args, t.from)
		kept := min(uint64(*(*uintptr)(unsafe.Add(from, word))), pl.most)
		*(*uintptr)(unsafe.Add(room, ring.RecordHeader+t.to)) = uintptr(kept)
		copy(unsafe.Slice((*byte)(to), kept), unsafe.Slice(*(**byte)(from), kept))
		to = unsafe.Add(to, kept)
	}
}

// lose counts an event that has no ring or no description.
//
//go:noinline
func (pl *plan) lose() {
	if pl.refused {
		pl.session.file.LoseUndescribed()
	} else {
		pl.session.file.LoseNoRing()
	}
}

// alignOf returns what a struct aligns a value of a kind to on this platform.
func alignOf(k event.Kind) int {
	switch k {
	case event.Int64, event.Uint64, event.Duration:
		var v struct {
			_ byte
			n int64
		}
		return int(unsafe.Offsetof(v.n))
	case event.Float64:
		var v struct {
			_ byte
			n float64
		}
		return int(unsafe.Offsetof(v.n))
	case event.String, event.Bytes:
		return int(word)
	}
	return k.SizeIn(int(word))
}
