package point

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/inproc/patch"
)

// Recordable is a marker or tracepoint as package recorder sees it.
type Recordable struct {
	What   string // "marker" or "tracepoint", for messages
	Name   string
	Format string // of a marker
	State  *State
	Armed  *uint32
	// Names returns the names of its arguments, which are known before their types.
	Names func() ([]string, error)
	// Declared returns its arguments. They are nil, without an error, until its own code has
	// shown their types: at its first hit while enabled.
	Declared func() (*Declaration, error)
}

// Declaration describes the arguments of a point. Their offsets are those in the arguments' struct.
type Declaration struct{ Fields []event.Field }

// Offsets returns where each argument of a func lies in a struct of them, in this order.
func Offsets(fn reflect.Type) []uintptr {
	offsets, at := make([]uintptr, fn.NumIn()), uintptr(0)
	for i := range offsets {
		t := fn.In(i)
		align := uintptr(t.FieldAlign())
		at = (at + align - 1) &^ (align - 1)
		offsets[i] = at
		at += t.Size()
	}
	return offsets
}

// Markers and Tracepoints return those of the program. Their packages set them when they are
// initialized: they are nil in a program without.
var Markers, Tracepoints func() []Recordable

// Found is called for each of them that is found, with no lock held; nil for nothing.
var Found atomic.Pointer[func(Recordable)]

// Record is called by a hit of a point with Recorded set in its word. It gets the address of the
// arguments, laid out as a struct of them, which it must not keep. Package recorder sets it before
// it sets the bit anywhere, and never again: a program that does not record does not link one.
var Record func(s *State, args unsafe.Pointer)

// Recordings is the recorder's state for a point.
type Recordings struct{ first unsafe.Pointer }

// Load and Store give access to it. The caller of Load stays pinned to its P as long as it uses the
// result.
func (r *Recordings) Load() unsafe.Pointer   { return atomic.LoadPointer(&r.first) }
func (r *Recordings) Store(p unsafe.Pointer) { atomic.StorePointer(&r.first, p) }

// Record hands the arguments of a pass to the recorder.
func (s *State) Record(args unsafe.Pointer) { Record(s, noescape(args)) }

// noescape hides p from escape analysis, as the runtime's function of this name does: no callee keeps
// it, but the compiler cannot see that.
//
//go:nosplit
func noescape(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}

// SetRecorded makes the point's sites record, or not. Repeated calls with the same value have no
// effect.
func (s *State) SetRecorded(word *uint32, on bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settle()
	if atomic.LoadUint32(word)&Recorded != 0 == on {
		return nil
	}
	atomic.AddUint32(word, Recorded) // the highest bit: adding it is setting and clearing
	err := patch.Set(word)
	if err != nil && on {
		atomic.AddUint32(word, Recorded)
		return err
	}
	return nil // sites that cannot be made dead find the word without the bit
}

// G returns the address of this goroutine's descriptor, and NumberOffset where in it the
// goroutine's number lies, 0 when that is not known.
func G() uintptr { return getg() }
func NumberOffset() uintptr {
	number.search.Do(func() { number.offset = numberOffset() })
	return number.offset
}
