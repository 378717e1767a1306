//go:build linux && amd64

package stub

import "unsafe"

// anchor is defined in assembly; package markerabi has its layout.
var anchor struct {
	magic       [2]uint64
	version     uint64
	pool, stubs uintptr
	types       [2]uintptr
	text        Range
	pclntab     Range
	data        Range
	bss         Range
	sites       uint64
	sitesSize   uint64
}

// Supported reports whether this build has stubs, so that waymark link can give markers an address.
const Supported = true

// Sites returns where in the program's file the table of its optimized sites is, its size, both
// 0 when it has none, and the address of the anchor.
func Sites() (offset, size uint64, at uintptr) {
	return anchor.sites, anchor.sitesSize, uintptr(unsafe.Pointer(&anchor))
}

// Range is a part of the program's memory.
type Range struct{ from, to uintptr }

// Holds reports whether all of size bytes lie in it.
func (r Range) Holds(at, size uintptr) bool { return at >= r.from && at < r.to && size <= r.to-at }

// Text returns where the program's code lies, and Data where its data with pointers do.
func Text() Range { return anchor.text }
func Data() Range { return anchor.data }

// Call calls the stub at pc with the address of a record in RAX. It does nothing when pc is
// not a stub: a marker with overwritten bytes must not become a jump to anywhere.
//
// The record is the caller's and need not outlive the call. It is passed as a pointer all
// the way, never as a uintptr, because the stack may move until the call is made.
func Call(pc uintptr, record unsafe.Pointer) {
	at := pc - anchor.pool
	if at >= anchor.stubs*16 || at%16 != 0 {
		return
	}
	// A func value is a pointer to a code pointer. Calling the assembly function by name
	// would go through its ABI0 wrapper, which spills RAX.
	code := pc
	entry := noescape(unsafe.Pointer(&code))
	fn := *(*func(unsafe.Pointer))(unsafe.Pointer(&entry))
	fn(noescape(record))
}

// noescape hides p from escape analysis, as the runtime's function of this name does: the
// call cannot keep it, but the compiler cannot see that.
//
//go:nosplit
func noescape(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}
