package variable

import (
	"debug/dwarf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// FuzzExpression evaluates expressions of any kind: it ends, and what it leaves is a program within
// the limits of one, or a reason.
func FuzzExpression(f *testing.F) {
	for _, expr := range []string{
		"\x55", "\x91\x6c", "\x75\x00\x31\x1c\x9f", "\x75\x00\x12\x1e\x12\x1e\x12\x1e\x9f", "\x50\x93\x08\x51\x93\x08",
		"\x03\x10\x20\x00\x00\x00\x00\x00\x00", "\x9e\x04\x01\x02\x03\x04", "\xa3\x01\x55\x9f", "\x70\x00\x06\x23\x08\x94\x02\x08\x10\x24\x08\x10\x26\x9f",
		"\x9c\x11\x70\x22", "\x30\x31\x29\x9f", "\x93\x04\x52\x93\x04",
	} {
		f.Add([]byte(expr))
	}
	program := filepath.Join(f.TempDir(), "f")
	cmd := exec.Command(peer.Need(f, "gcc")[0], "-g", "-x", "c", "-o", program, "-")
	cmd.Stdin = strings.NewReader("int main(void) { return 0; }\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("%v\n%s", err, out)
	}
	r, err := os.Open(program)
	if err != nil {
		f.Fatal(err)
	}
	info, err := debuginfo.Open(r, program)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, expr []byte) {
		unit := &unitInfo{Unit: &info.Units[0], file: info, types: map[dwarf.Offset]*Type{}}
		s := site{file: info, unit: unit, pc: 0x1000, at: 0x1000, base: func() (Location, error) {
			return Location{Kind: Memory, Program: location.Program{{Op: location.Register, Arg: 6}}, Text: "rbp"}, nil
		}}
		l := s.locate(expr)
		if l.Kind == None && l.Err == nil {
			t.Fatalf("% x: neither a location nor a reason", expr)
		}
		for _, size := range []int64{1, 4, 8} {
			part := l.Part(size, size)
			if p, err := part.Number(size); err == nil && p.Check() != nil {
				t.Fatalf("% x: %v: %v", expr, p, p.Check())
			}
		}
	})
}
