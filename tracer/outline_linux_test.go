package tracer

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// An outline has the simple markers that there are, each with its function: those that Find tells when
// it looks at the places. There is nothing to trace in it.
func TestOutline(t *testing.T) {
	for _, c := range []struct{ compiler, source, level string }{
		{"gcc", "corpus.c", "-O0"}, {"gcc", "corpus.c", "-O2"}, {"clang", "corpus.c", "-O2"},
		{"g++", "more.cc", "-O2"}, {"clang++", "more.cc", "-O1"},
	} {
		t.Run(c.compiler+" "+c.source+" "+c.level, func(t *testing.T) {
			compiler, path := peer.Need(t, c.compiler)[0], filepath.Join(t.TempDir(), "program")
			out, err := exec.Command(compiler, "-g", c.level, "-w", "-I../include", "-o", path, "./e2e/testdata/simple/"+c.source).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sameOutline(t, path)
			// By the line table, as markers of other people's macros are found.
			peer.Need(t, "objcopy")
			if out, err := exec.Command("objcopy", "--remove-section=.debug_simple_marker.1", path).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			sameOutline(t, path)
		})
	}
}

func sameOutline(t *testing.T, path string) {
	t.Helper()
	whole := mustFind(t, Path(path))
	outline, err := FindNames(t.Context(), Path(path))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(functionsOf(whole), functionsOf(outline)); diff != "" || len(whole) < 4 {
		t.Errorf("%d markers, functions (-Find +outline):\n%s", len(whole), diff)
	}
	for _, m := range outline {
		if err := m.NoPlace(); !errors.Is(err, model.ErrOutline) || len(m.Fields) > 0 {
			t.Fatalf("%s: %v, %d fields", m.FullName(), err, len(m.Fields))
		}
	}
	if _, err := Count(Path(path), outline, nil); !errors.Is(err, model.ErrOutline) {
		t.Errorf("counting: %v, want %v", err, model.ErrOutline)
	}
}

// functionsOf returns where the source has each marker.
func functionsOf(markers []*Marker) (all [][3]any) {
	for _, m := range markers {
		all = append(all, [3]any{m.Simple.Name, m.Simple.Line, m.Simple.Function})
	}
	return all
}
