package variable

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// room is how large each section is that lists assembles.
const room = 512

// lists returns a file with empty sections for lists of locations, whose bytes the caller writes: they
// are what the file's methods return.
func lists(t testing.TB) *unitInfo {
	t.Helper()
	source := `.section .debug_loc,"",@progbits
.zero 512
.section .debug_loclists,"",@progbits
.zero 512
.section .debug_addr,"",@progbits
.zero 512
.section .text
.globl _start
_start: ret
`
	program := filepath.Join(t.TempDir(), "f")
	cmd := exec.Command(peer.Need(t, "gcc")[0], "-gdwarf-5", "-nostdlib", "-static", "-x", "assembler", "-o", program, "-")
	cmd.Stdin = strings.NewReader(source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	info, err := debuginfo.Open(bytes.NewReader(data), program) // not an os.File, which would be mapped
	if err != nil {
		t.Fatal(err)
	}
	unit := info.Units[0]
	return &unitInfo{Unit: &unit, file: info, types: map[dwarf.Offset]*Type{}}
}

// write puts bytes at the end of a section, and returns where they begin.
func (u *unitInfo) write(t testing.TB, name string, data []byte) uint64 {
	t.Helper()
	section, err := u.file.Section(name)
	if err != nil || len(section) != room {
		t.Fatal(len(section), err)
	}
	clear(section)
	return uint64(room - copy(section[room-min(len(data), room):], data))
}

// FuzzLists reads lists of locations of any kind, with the views and addresses that they refer to: it
// ends, with an expression that is part of the list, nothing, or a reason.
func FuzzLists(f *testing.F) {
	address := func(a ...uint64) (b []byte) {
		for _, v := range a {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	old := append(append(address(0, 0x40), 1, 0, 0x55), append(append(address(^uint64(0), 0x2000), append(address(4, 8), 2, 0, 0x91, 0x6c)...), address(0, 0)...)...)
	f.Add(false, old, []byte(nil), uint64(0x2004), 0)
	for _, list := range []string{
		"\x04\x00\x10\x01\x55\x00", "\x01\x00\x04\x00\x10\x02\x30\x9f\x00", "\x02\x00\x01\x01\x55\x05\x01\x50\x00", "\x03\x01\x20\x01\x55\x00",
		"\x08\x00\x20\x00\x00\x00\x00\x00\x00\x10\x01\x55\x00", "\x09\x00\x01\x04\x00\x10\x01\x55\x00", "\x06\x00\x20\x00\x00\x00\x00\x00\x00\x04\x00\x10\x01\x55\x00",
	} {
		f.Add(true, []byte(list), address(0x2000, 0x2040), uint64(0x2004), 1)
	}
	u := lists(f)
	f.Fuzz(func(t *testing.T, newer bool, list, addresses []byte, pc uint64, view int) {
		name, find := "loc", u.findOld
		if newer {
			name, find = "loclists", u.find
		}
		u.addrBase = u.write(t, "addr", addresses)
		at := u.write(t, name, list)
		section, _ := u.file.Section(name)
		for _, p := range []point{{address: pc, view: debuginfo.NoView}, {address: pc, view: view}} {
			for _, seen := range []views{{}, {&debuginfo.Buffer{Data: section, At: int(at)}}} {
				expr, err := find(at, seen, p)
				if err != nil && expr != nil {
					t.Errorf("% x: both % x and %v", list, expr, err)
				}
				if len(expr) > 0 && !bytes.Contains(section, expr) && !bytes.Equal(expr, []byte{opEither}) {
					t.Errorf("% x: expression % x", list, expr)
				}
			}
		}
		u.listBase = at
		if where, err := u.list(pc); err == nil && where < at {
			t.Errorf("list %d begins at %#x, ahead of them all", pc, where)
		}
	})
}
