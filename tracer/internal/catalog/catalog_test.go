package catalog

import (
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/sdt"
)

func TestTable(t *testing.T) {
	all, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for name, versions := range all {
		operands := map[int]bool{}
		for _, args := range versions {
			n := Operands(args)
			if operands[n] {
				t.Errorf("%s: two lines for %d operands", name, n)
			}
			operands[n] = true
			seen := map[string]bool{}
			for _, a := range args {
				if seen[a.Name] || a.Name == "" {
					t.Errorf("%s: argument %q twice or without a name", name, a.Name)
				}
				seen[a.Name] = true
			}
		}
	}
	for _, bad := range []string{"p n", "p n a:string", "p"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// Programs of Debian's have the markers that the table says, with as many operands, and text
// where an operand can be an address.
func TestCorpusAgrees(t *testing.T) {
	known, unknown := map[string]bool{}, map[string]bool{}
	for _, path := range peer.Corpus(t) {
		f, err := sdt.Open(path)
		if err != nil {
			continue // what is beside a program
		}
		for i := range f.Sites {
			s := &f.Sites[i]
			name := s.Provider + ":" + s.Name
			versions := Lookup(s.Provider, s.Name)
			if versions == nil {
				unknown[name] = len(s.Operands) > 0 && s.Provider != "hotspot_jni"
				continue
			}
			agrees := false
			for _, args := range versions {
				if Operands(args) != len(s.Operands) {
					continue
				}
				agrees, known[name] = true, true
				at := 0
				for _, a := range args {
					if o := s.Operands[at]; a.Type >= Pointer && o.Size != 8 {
						t.Errorf("%s in %s: %s is an operand of %d bytes", name, path, a.Name, o.Size)
					}
					at += a.Type.Operands()
				}
			}
			if !agrees {
				t.Errorf("%s in %s has %d operands: %s", name, path, len(s.Operands), s.Args)
			}
		}
	}
	var missing []string
	for name, has := range unknown {
		if has {
			missing = append(missing, name)
		}
	}
	t.Logf("%d markers known, not in the table: %s", len(known), strings.Join(missing, " "))
	if len(known) < 150 {
		t.Errorf("the corpus has %d markers of the table", len(known))
	}
}
