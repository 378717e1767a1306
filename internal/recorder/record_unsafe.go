package recorder

import (
	"unsafe"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/internal/point"
	"github.com/waymark-trace/waymark/internal/ring"
)

// record is what a marker calls with its arguments while it is recorded. From procPin to procUnpin
// it is the owner of the P's rings. norace because one goroutine follows another on a P without anything
// that the race detector sees.
//
//go:norace
func record(s *point.State, args unsafe.Pointer) {
	p := procPin()
	l := load(s) // invariant 6: pinned before it looks
	if l == nil {
		procUnpin()
		return
	}
	if pl := l.first.plan.Load(); pl != nil && len(l.more) == 0 {
		pl.write(p, args)
		procUnpin()
		return
	}
	procUnpin()
	recordMore(s, args)
}

// recordMore is record where a marker is in several sessions, or was never seen before.
//
//go:norace
func recordMore(s *point.State, args unsafe.Pointer) {
	for {
		p := procPin()
		l := load(s)
		unknown := false
		l.each(func(r *recording) { unknown = unknown || r.plan.Load() == nil })
		if !unknown {
			l.each(func(r *recording) { r.plan.Load().write(p, args) })
			procUnpin()
			return
		}
		procUnpin()
		l.each(func(r *recording) {
			if r.plan.Load() == nil {
				if err := r.describe(); err != nil {
					r.session.problem(err)
				}
			}
		})
	}
}

// plan is how the events of a marker are written in a session.
type plan struct {
	header  uint64 // event's number and, where that is always the same, its size
	size    uint64 // of a record without texts
	words   uintptr
	tail    uintptr // bytes of arguments behind the last whole word
	goid    uintptr
	stamp   func() (uint64, uintptr)
	writers []ring.Writer
	texts   []text
	most    uint64 // bytes of a text that are kept
	filter  *program

	session *Session
	refused bool
}

// text is an argument that has a length.
type text struct{ offset uintptr }

const headerSize = 24

// write records an event. The caller is pinned to P p.
//
//go:norace
func (pl *plan) write(p int, args unsafe.Pointer) {
	if uint(p) >= uint(len(pl.writers)) {
		pl.lose()
		return
	}
	w := &pl.writers[p]
	if pl.filter != nil && !pl.filter.holds(args) {
		w.Filtered()
		return
	}
	if pl.texts != nil {
		pl.writeTexts(w, args)
		return
	}
	ticks, g := pl.stamp()
	if !w.Fits(pl.size) && !w.Turn(pl.size, ticks) {
		return
	}
	room := w.Room()
	*(*uint64)(room) = pl.header
	pl.fill(room, args, ticks, g)
	w.Commit(pl.size)
}

// fill writes all of a record but its first word and its texts.
//
//go:norace
func (pl *plan) fill(room, args unsafe.Pointer, ticks uint64, g uintptr) {
	*(*uint64)(unsafe.Add(room, 8)) = ticks
	goroutine := uint64(0)
	if pl.goid != 0 {
		goroutine = *(*uint64)(unsafe.Add(*(*unsafe.Pointer)(unsafe.Pointer(&g)), pl.goid))
	}
	*(*uint64)(unsafe.Add(room, 16)) = goroutine
	room = unsafe.Add(room, headerSize)
	for i := uintptr(0); i < pl.words; i++ {
		*(*uint64)(unsafe.Add(room, i*8)) = *(*uint64)(unsafe.Add(args, i*8))
	}
	if pl.tail != 0 {
		room, args = unsafe.Add(room, pl.words*8), unsafe.Add(args, pl.words*8)
		*(*uint64)(room) = 0
		copy(unsafe.Slice((*byte)(room), pl.tail), unsafe.Slice((*byte)(args), pl.tail))
	}
}

// word is a machine word: a text is two, its pointer and its length.
const word = unsafe.Sizeof(uintptr(0))

// writeTexts records an event that has strings or byte slices among its arguments.
//
//go:norace
func (pl *plan) writeTexts(w *ring.Writer, args unsafe.Pointer) {
	size := pl.size
	cut := false
	for i := range pl.texts {
		n := uint64(*(*uintptr)(unsafe.Add(args, pl.texts[i].offset+word)))
		if n > pl.most {
			n, cut = pl.most, true
		}
		size += n
	}
	size = (size + 7) &^ 7
	ticks, g := pl.stamp()
	if !w.Fits(size) && !w.Turn(size, ticks) {
		return
	}
	room := w.Room()
	*(*uint64)(room) = pl.header | size
	pl.fill(room, args, ticks, g)
	to := unsafe.Add(room, pl.size)
	for i := range pl.texts {
		from := unsafe.Add(args, pl.texts[i].offset)
		kept := min(uint64(*(*uintptr)(unsafe.Add(from, word))), pl.most)
		*(*uintptr)(unsafe.Add(room, headerSize+pl.texts[i].offset)) = uintptr(kept)
		copy(unsafe.Slice((*byte)(to), kept), unsafe.Slice(*(**byte)(from), kept))
		to = unsafe.Add(to, kept)
	}
	for end := unsafe.Add(room, size); uintptr(to) < uintptr(end); to = unsafe.Add(to, 1) {
		*(*byte)(to) = 0
	}
	w.Commit(size)
	if cut {
		w.Truncated()
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

// sizes of arguments are those of this platform.
func layout(kinds []field.Kind) (offsets []int, size int) {
	for _, k := range kinds {
		align := alignOf(k)
		size = (size + align - 1) &^ (align - 1)
		offsets = append(offsets, size)
		size += ring.SizeOf(k, int(word))
	}
	return offsets, size
}

func alignOf(k field.Kind) int {
	switch k {
	case field.Int64, field.Uint64:
		var v struct {
			_ byte
			n int64
		}
		return int(unsafe.Offsetof(v.n))
	case field.Float64:
		var v struct {
			_ byte
			n float64
		}
		return int(unsafe.Offsetof(v.n))
	case field.String, field.Bytes:
		return int(word)
	}
	return ring.SizeOf(k, int(word))
}
