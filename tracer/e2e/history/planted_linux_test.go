package history

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
)

// A counter that is left raised, and an instruction that is left changed, are found.
func TestPlantedLeftovers(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "gcc")
	peer.Header(t, "sys/sdt.h")
	dir := t.TempDir()
	path := dir + "/marks"
	command(t, "gcc", "-O2", "-DCOUNTER", "-o", path, "testdata/marks.c", "-lpthread")
	p := newProgram(t, dir+"/program", path, &plan{threads: 2})
	p.set(wordGate, 1)
	if err := p.start(nil, nil); err != nil {
		t.Fatal(err)
	}
	if !p.running() {
		t.Fatalf("the program did not begin:\n%s", &p.stderr)
	}
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := sdt.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	maps, err := procfs.Maps(p.pid())
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", p.pid()), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	look := func() string { return strings.Join(leftovers(p.pid(), path, image, f.Sites), "\n") }
	if got := look(); got != "" {
		t.Fatalf("before: %s", got)
	}
	for _, tt := range []struct {
		name, want string
		offset     sdt.Offset
		writable   bool
	}{
		{"counter", "the counter of mark is ", f.Sites[0].CounterOffset, true},
		{"code", fmt.Sprintf("at offset %#x, its file", f.Sites[0].Offset), f.Sites[0].Offset, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := int64(0)
			for _, m := range maps {
				if m.Path == path && m.Writable == tt.writable && (m.Writable || m.Executable) && uint64(tt.offset)-m.Offset < m.End-m.Start { // unsigned
					at = int64(m.Start + uint64(tt.offset) - m.Offset)
				}
			}
			was := make([]byte, 1)
			if _, err := memory.ReadAt(was, at); err != nil {
				t.Fatal(err)
			}
			for _, b := range [][]byte{{was[0] ^ 1}, was} {
				if _, err := memory.WriteAt(b, at); err != nil {
					t.Fatal(err)
				}
				if got := look(); strings.Contains(got, tt.want) != (b[0] != was[0]) {
					t.Errorf("%#x in place of %#x: found %q, want %q", b[0], was[0], got, tt.want)
				}
			}
		})
	}
}
