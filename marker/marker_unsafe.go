package marker

import (
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/inproc/stub"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

//go:generate go run ../internal/cmd/genarity -o zarity_unsafe.go marker

// Basic lists the types that a marker's argument can have, which every tracer understands, and
// named types of these. The struct is that of every [Text].
type Basic interface {
	basic | ~unsafe.Pointer | ~struct {
		text unsafe.Pointer
		word uint64
	}
}

type basic interface {
	~bool |
		~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64 |
		~string | ~[]byte
}

// Marker is the part that markers of every arity have in common. It is embedded in [Marker0] …
// [Marker8] and never used alone.
//
// Its members are laid out as package markerabi defines, for waymark link to read from the
// file; the New functions return it by value so that the compiler can lay it out there.
type Marker struct {
	_ noCopy

	// armed is the word that every site tests. Its low half is the kernel's reference
	// counter, which the kernel raises and lowers in memory at any time, two bytes at once;
	// its high half is set while probes of this process are armed, and is written under
	// state.mu. A plain uint32, not an atomic.Uint32, keeps Mark within the inliner's budget, and so
	// does its position: the first member's address is the marker's.
	armed uint32

	version uint16
	arity   uint8
	magic   [2]uint64

	name   string
	format string

	// stub is written into the file by waymark link: the distance from this member to the
	// marker's stub. The program never writes it.
	stub int64

	// state is nil until the marker is first used; then a *state for good.
	state unsafe.Pointer
}

// noCopy makes go vet object to copies: a copy of a marker is not the marker.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

const (
	magic0     = markerabi.MarkerMagic0
	magic1     = markerabi.MarkerMagic1
	version    = markerabi.Version
	kernelHalf = point.KernelHalf
)

// Enabled reports whether the marker is armed, by this process or by a kernel tracer. Use it to skip
// computing expensive arguments:
//
//	if m.Enabled() {
//		m.Mark(expensive())
//	}
func (m *Marker) Enabled() bool { return atomic.LoadUint32(&m.armed) != 0 }

// Name returns the marker's name as declared, provider:name, which [Register] and [Arm] take.
func (m *Marker) Name() string { return m.name }

// Format returns the marker's format string.
func (m *Marker) Format() string { return m.format }

// callStub hands the record to the kernel tracers that are attached to the marker's stub.
func (m *Marker) callStub(record unsafe.Pointer) {
	stub.Call(uintptr(unsafe.Pointer(&m.stub))+uintptr(m.stub), record)
}
