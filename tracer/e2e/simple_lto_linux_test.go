package e2e

import (
	"maps"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// After optimization at link time the code of all files is in one unit, and what the sources say in others: the values
// are those without optimization, or not there, and most are there.
func TestSimpleLinkTime(t *testing.T) {
	peer.Root(t)
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) { linkTime(t, peer.Need(t, compiler)[0]) })
	}
}

func linkTime(t *testing.T, compiler string) {
	build := func(args ...string) map[string][]simpleHit {
		t.Helper()
		file := filepath.Join(t.TempDir(), "program")
		args = append(args, "-g", "-I../../include", "-o", file, "testdata/simplelto/first.c", "testdata/simplelto/second.c")
		if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", compiler, args, err, out)
		}
		o := oracle{}
		return o.trace(t, program{file, file})
	}
	truth := build("-O0")
	for _, level := range []string{"-O0", "-O1", "-O2", "-O3", "-Os"} {
		have, all := 0, 0
		got := build(level, "-flto")
		if len(got) != len(truth) {
			t.Errorf("%s: %d markers, want %d", level, len(got), len(truth))
		}
		for name, hits := range truth {
			if len(got[name]) != len(hits) {
				t.Errorf("%s: %s: %d events, want %d", level, name, len(got[name]), len(hits))
				continue
			}
			for i := range hits {
				for v := range maps.Keys(hits[i].values) {
					value, want := got[name][i].values[v], hits[i].values[v]
					if all++; value != "-" {
						have++
					}
					if value != want && value != "-" {
						t.Errorf("%s: %s: %s is %q, want %q", level, name, v, value, want)
					}
				}
			}
		}
		t.Logf("%s: %d of %d values", level, have, all)
		if level == "-O0" && have != all || 10*have < 7*all {
			t.Errorf("%s: %d of %d values", level, have, all)
		}
	}
}
