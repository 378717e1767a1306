package recording_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// TestHas asks for what events have besides their fields: our own have all of it, those of barectf nothing.
func TestHas(t *testing.T) {
	names := []string{"pid", "tid", "comm", "goroutine", "cpu"}
	dir := filepath.Join(t.TempDir(), "trace")
	w, err := recording.Create(dir, &recording.Options{Offset: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Channel("kernel", "buffer_full")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Write(&event.Event{Point: &event.Point{Name: "p"}, CPU: 3}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		trace string
		want  bool
	}{{dir, true}, {"../../ctf/testdata/barectf/little", false}} {
		r, err := recording.Open(tt.trace)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, p := range r.Points() {
			for _, name := range names {
				if got := r.Has(p, name); got != tt.want {
					t.Errorf("%s: %s has %s: %t, want %t", tt.trace, p.FullName(), name, got, tt.want)
				}
			}
			if r.Has(p, "other") {
				t.Errorf("%s has a context that no event has", p.FullName())
			}
		}
	}
}
