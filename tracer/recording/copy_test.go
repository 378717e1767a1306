package recording_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// A copy of a trace below the same directory is not read a second time, and said to be one; another trace of the same
// program is read.
func TestCopies(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, at ...uint64) {
		t.Helper()
		w, err := ctf.Create(filepath.Join(dir, name), &ctf.Options{UUID: ctf.UUID{1}, Clock: ctf.Clock{Name: "monotonic", Freq: 1e9}})
		check := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		check(err)
		class, err := w.StreamClass(nil, nil)
		check(err)
		mark, err := w.EventClass(class, "app:mark", nil)
		check(err)
		s, err := w.Stream(class, "channel", 0)
		check(err)
		for _, at := range at {
			check(s.Write(mark, at, nil, nil))
		}
		check(w.Close())
	}
	write("a", 1, 2, 3)
	write("chunk", 4, 5) // of a rotated session
	if err := os.CopyFS(filepath.Join(dir, "b"), os.DirFS(filepath.Join(dir, "a"))); err != nil {
		t.Fatal(err)
	}
	r, err := recording.Open(dir)
	if !errors.Is(err, recording.ErrCopy) || r == nil {
		t.Fatalf("%v", err)
	}
	defer r.Close()
	n := 0
	for {
		if _, err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d events, want 5: %v", n, err)
	}
}
