package recording_test

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// FuzzConvert changes words of a file of rings, records it as runs and event by event, and compares
// the traces: both have the same events, or neither way believes the file.
func FuzzConvert(f *testing.F) {
	dir := f.TempDir()
	s, err := recorder.Start(recorder.Options{Dir: dir, Name: "fuzz", Patterns: []string{"packed:*"}, Size: 64 << 10, MaxString: 64})
	if err != nil {
		f.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		markAny(r, true)
	}
	s.Stop()
	sample, err := os.ReadFile(s.Path())
	if err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(dir, "fuzzed.ring")
	f.Add([]byte{})
	for _, at := range []uint32{40, 48, 56, 1000, 2000} {
		f.Add(binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint32(nil, at), 1))
		f.Add(binary.NativeEndian.AppendUint64(binary.NativeEndian.AppendUint32(nil, at), 1<<40))
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		text := append([]byte{}, sample...)
		data := len(text) - 64<<10 // the rings are last
		for ; len(changes) >= 12; changes = changes[12:] {
			copy(text[data+int(binary.NativeEndian.Uint32(changes))%(64<<10-8):], changes[4:12])
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		runs, runsErr := convert(t, path, filepath.Join(t.TempDir(), "trace"), inRuns)
		single, singleErr := convert(t, path, filepath.Join(t.TempDir(), "trace"), oneByOne)
		if (runsErr == nil) != (singleErr == nil) {
			t.Fatalf("as runs: %v; event by event: %v", runsErr, singleErr)
		}
		if runsErr != nil {
			return
		}
		for cpu, events := range single {
			if d := cmp.Diff(runs[cpu], events, same); d != "" {
				t.Fatalf("CPU %d (-runs +events):\n%s", cpu, d)
			}
		}
		if len(runs) != len(single) {
			t.Errorf("events of %d CPUs as runs, of %d event by event", len(runs), len(single))
		}
	})
}

// convert records a file of rings in a directory and reads the trace, by CPU. Times are left out: the clock is
// read while rings are.
func convert(t *testing.T, ring, dir string, fill func(*recording.Writer, *client.Ring) error) (map[int][]event.Event, error) {
	t.Helper()
	events, _, err := client.OpenRing(ring)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	w, err := recording.Create(dir, &recording.Options{Offset: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	err = fill(w, events)
	if e := w.Close(); e != nil {
		t.Fatal(e)
	}
	all := map[int][]event.Event{}
	r := openTrace(t, dir)
	for {
		e, wrong := r.Next()
		if wrong == io.EOF {
			return all, err
		}
		if wrong != nil {
			t.Fatal(wrong)
		}
		one := e.Event
		one.Time, one.Values = 0, slices.Clone(e.Values)
		for i := range one.Values {
			if v := &one.Values[i]; v.Kind().HasLength() {
				*v = event.Text(v.Kind(), slices.Clone(v.Bytes()), v.Len())
			}
		}
		all[e.CPU] = append(all[e.CPU], one)
	}
}
