package debuginfo

import (
	"debug/dwarf"
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

const walked = `#include <map>
#include <string>
struct s { int a; struct in { int b; int f() { return b; } } x; enum { one, two } e; };
namespace n { template <int I> int f(const std::map<std::string, int> &m) { return I + int(m.size()); } }
static int twice(int n) { auto l = [&](int k) { struct local { int v; } x{k}; return x.v * n; }; return l(2); }
int main(int argc, char **) { std::map<std::string, int> m; s v{}; return n::f<3>(m) + n::f<4>(m) + twice(argc) + v.x.f(); }
`

// TestWalk holds the walk against debug/dwarf: the same entries but those in types, each with what it
// says of itself.
func TestWalk(t *testing.T) {
	for _, c := range []struct{ compiler, flags string }{
		{"g++", "-gdwarf-4"}, {"g++", "-gdwarf-5"}, {"g++", "-gdwarf64"}, {"clang++", "-gdwarf-4"}, {"clang++", "-gdwarf-5"},
	} {
		t.Run(c.compiler+c.flags, func(t *testing.T) {
			compiler, path := peer.Need(t, c.compiler)[0], filepath.Join(t.TempDir(), "f")
			if err := os.WriteFile(path+".cc", []byte(walked), 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, compiler, "-g", c.flags, "-O1", "-o", path, path+".cc")
			if n := sameWalk(t, path); n < 1000 {
				t.Errorf("%d entries", n)
			}
		})
	}
	t.Run("Go", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "scsi")
		run(t, "go", "build", "-o", path, "../../../../examples/scsi_go")
		if n := sameWalk(t, path); n < 1000 {
			t.Errorf("%d entries", n)
		}
	})
}

// sameWalk compares the walks of all units, and returns how many entries they have.
func sameWalk(t *testing.T, path string) (total int) {
	r, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Open(r, path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range f.Units {
		u := &f.Units[i]
		var got []Node
		var depths []int
		err := f.Walk(u, func(n *Node, depth int) error {
			got, depths = append(got, *n), append(depths, depth)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		want, wantDepths := oracle(t, f, u)
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] || depths[i] != wantDepths[i] {
				t.Fatalf("entry %d of the unit at %#x is %+v at %d, want %+v at %d", i, u.header, got[i], depths[i], want[i], wantDepths[i])
			}
		}
		if len(got) != len(want) {
			t.Fatalf("the unit at %#x has %d entries, want %d", u.header, len(got), len(want))
		}
		total += len(got)
	}
	return total
}

// oracle has debug/dwarf read a unit.
func oracle(t *testing.T, f *File, u *Unit) (nodes []Node, depths []int) {
	r := f.Data.Reader()
	r.Seek(u.First)
	for depth := 0; ; {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e == nil || e.Offset >= u.End:
			return nodes, depths
		case e.Tag == 0:
			if depth--; depth == 0 {
				return nodes, depths
			}
			continue
		}
		if depth > 0 {
			n := Node{Offset: e.Offset, Tag: e.Tag, Children: e.Children, Code: e.Val(dwarf.AttrLowpc) != nil || e.Val(dwarf.AttrRanges) != nil}
			if e.Tag == dwarf.TagSubprogram {
				file, hasFile := e.Val(dwarf.AttrDeclFile).(int64)
				line, hasLine := e.Val(dwarf.AttrDeclLine).(int64)
				n.Declared, n.HasDeclared = Declared{file, line}, hasFile && hasLine
			}
			nodes, depths = append(nodes, n), append(depths, depth)
		}
		if at, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && depth > 0 && e.Children && isType(e.Tag) {
			r.Seek(at)
		} else if e.Children {
			depth++
		}
	}
}
