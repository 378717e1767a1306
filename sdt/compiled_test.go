package sdt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// The compiler decides the operand forms: build one program in several ways.
func TestCompiled(t *testing.T) {
	peer.Header(t, "sys/sdt.h")
	gcc, dir := peer.Need(t, "gcc")[0], t.TempDir()
	source, err := filepath.Abs("testdata/tiny.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range []string{"-O0 -no-pie", "-O1 -fPIE -pie", "-O2 -no-pie -static", "-O2 -fPIE -pie -Wl,-z,separate-code", "-O3 -fPIC -shared"} {
		path := filepath.Join(dir, strings.ReplaceAll(flags, " ", ""))
		run(t, "", gcc, append(strings.Fields(flags), "-nostdlib", "-o", path, source)...)
		f := compareReadelf(t, path)
		if len(f.Sites) < 2 {
			t.Errorf("%s: %d sites", flags, len(f.Sites))
		}
		for _, s := range f.Sites {
			want := []string{"int64", "int8", "float64", "int32"}
			if s.Name == "one" {
				want = []string{"int32", "uint32"}
			}
			for i, o := range s.Operands {
				if i >= len(want) || o.TypeName() != want[i] || o.Kind == Unreadable {
					t.Errorf("%s: %s: operand %d is %v", flags, s.Name, i, o)
				}
			}
		}
	}
}

// Two C files with a static variable of one name: which one the operand means is not written
// anywhere (libbpf/usdt issue 13).
func TestAmbiguousStatic(t *testing.T) {
	peer.Header(t, "sys/sdt.h")
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		source := "#include <sys/sdt.h>\nstatic volatile char ti; void " + name + "(void) { STAP_PROBE1(dup, " + name + ", ti); }\n"
		if name == "a" {
			source += "char once; void b(void); int main(void) { a(); b(); STAP_PROBE1(dup, once, once); }\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name+".c"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "gcc", "-O1", "-o", "dup", "a.c", "b.c")
	f, err := Open(filepath.Join(dir, "dup"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sites {
		o := s.Operands[0]
		if s.Name == "once" && o.Kind == Unreadable {
			t.Errorf("once: %v", o)
		}
		if s.Name != "once" && strings.Contains(s.Args, "ti(%rip)") &&
			(o.Kind != Unreadable || !strings.Contains(o.Err.Error(), "symbol ti is defined at 2 addresses")) {
			t.Errorf("%s: %v", s.Name, o)
		}
	}
	if len(f.Sites) != 3 {
		t.Errorf("%d sites", len(f.Sites))
	}
}
