package marker

import (
	"testing"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// The tools read and write markers by package markerabi.
func TestLayout(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("only 64-bit programs are linked")
	}
	var m Marker
	for _, tt := range []struct {
		name      string
		got, want uintptr
	}{
		{"armed", unsafe.Offsetof(m.armed), markerabi.OffArmed},
		{"magic", unsafe.Offsetof(m.magic), markerabi.OffMagic},
		{"version", unsafe.Offsetof(m.version), markerabi.OffVersion},
		{"arity", unsafe.Offsetof(m.arity), markerabi.OffArity},
		{"name", unsafe.Offsetof(m.name), markerabi.OffName},
		{"format", unsafe.Offsetof(m.format), markerabi.OffFormat},
		{"stub", unsafe.Offsetof(m.stub), markerabi.OffStub},
		{"state", unsafe.Offsetof(m.state), markerabi.OffState},
		{"size", unsafe.Sizeof(m), markerabi.HeaderSize},
		{"size of arity 8", unsafe.Sizeof(Marker8[int, int, int, int, int, int, int, int]{}), markerabi.HeaderSize},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, markerabi says %d", tt.name, tt.got, tt.want)
		}
	}
}
