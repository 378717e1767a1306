package sdt

import (
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// Every note of Debian's programs agrees with readelf, and every operand has a location.
// Compilers put a floating-point argument into an XMM register only where sys/sdt.h's
// constraint lets them; none of these does, so none may be unreadable.
func TestDebianPrograms(t *testing.T) {
	sites, operands, byName := 0, 0, map[string]int{}
	for _, path := range peer.Corpus(t) {
		f := compareReadelf(t, path)
		n := 0
		for _, s := range f.Sites {
			if want := len(operandHead.FindAllString(s.Args, -1)); len(s.Operands) != want {
				t.Errorf("%s: %s:%s: %d operands of %q, want %d", path, s.Provider, s.Name, len(s.Operands), s.Args, want)
			}
			n += len(s.Operands)
			for _, o := range s.Operands {
				if o.Kind == Unreadable {
					t.Errorf("%s: %s:%s: %v", path, s.Provider, s.Name, o.Err)
				}
			}
		}
		t.Logf("%s: %d notes, %d operands", filepath.Base(path), len(f.Sites), n)
		sites, operands = sites+len(f.Sites), operands+n
		byName[filepath.Base(path)] = len(f.Sites)
	}
	t.Logf("%d notes, %d operands", sites, operands)
	// A reader that finds no notes agrees with a readelf that shows none.
	for name, least := range map[string]int{"postgres": 71, "libjvm.so": 500, "python3.11": 8, "stap": 20} {
		if byName[name] < least {
			t.Errorf("%s: %d notes, want %d or more", name, byName[name], least)
		}
	}
}
