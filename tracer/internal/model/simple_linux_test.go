package model

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// manySimple builds a program with n simple markers.
func manySimple(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("#include \"waymark/simple.h\"\nstatic volatile int sink;\n")
	for i := range n {
		fmt.Fprintf(&b, "__attribute__((noinline)) static int f%d(int a, int b)\n{\n\tint c = a + b;\n\tWAYMARK_SIMPLE(\"many:m%d\", \"%%d\", b);\n\treturn c * sink;\n}\n", i, i)
	}
	b.WriteString("int main(void)\n{\n\tint r = 0;\n")
	for i := range n {
		fmt.Fprintf(&b, "\tr += f%d(%d, r);\n", i, i)
	}
	b.WriteString("\treturn r & 1;\n}\n")
	path := filepath.Join(t.TempDir(), "many")
	cmd := exec.Command(peer.Need(t, "gcc")[0], "-g", "-O1", "-I../../../include", "-o", path, "-x", "c", "-")
	cmd.Stdin = strings.NewReader(b.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// A file is read again once for all of its markers: it can be gone after the first.
func TestResolveReadsOnce(t *testing.T) {
	path := manySimple(t, 40)
	markers, err := FindPath(path, false)
	if err != nil || len(markers) != 40 {
		t.Fatalf("%d markers, %v, want 40", len(markers), err)
	}
	var r resolver
	defer r.close()
	for i, m := range markers {
		known := []error{errUnknown}
		got, err := r.resolve(m, []string{"a"}, known)
		if err != nil || known[0] != nil {
			t.Fatalf("%s: %v, %v", m.FullName(), err, known[0])
		}
		if n := len(got.Fields); n != 2 || got.Fields[1].Name != "a" {
			t.Fatalf("%s has %d fields, want b and a", m.FullName(), n)
		}
		if i > 0 {
			continue
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := Reopen(markers[1].File); err == nil {
			t.Fatal("the file can be opened again although it is gone")
		}
	}
}
