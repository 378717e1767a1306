package recording_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// TestMerge has babeltrace2 print a recording and a trace with LTTng's environment in the order of time. It takes the
// clock of LTTng's traces for absolute, and merges no other kind of clock with it.
func TestMerge(t *testing.T) {
	babeltrace2 := peer.Need(t, "babeltrace2")[0]
	dir := t.TempDir()
	const day = 1_700_000_000
	ours, err := recording.Create(filepath.Join(dir, "ours"), &recording.Options{Offset: day * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := ours.Channel("kernel")
	if err != nil {
		t.Fatal(err)
	}
	mark := &event.Point{Provider: "app", Name: "mark"}
	for _, at := range []time.Duration{1, 3} {
		if err := c.Write(&event.Event{Time: at * time.Second, Point: mark}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ours.Close(); err != nil {
		t.Fatal(err)
	}
	theirs, err := ctf.Create(filepath.Join(dir, "theirs"), &ctf.Options{
		Clock: ctf.Clock{Name: "monotonic", UUID: ctf.UUID{1}, OffsetSeconds: day},
		Env: []ctf.EnvEntry{
			recording.Text("domain", "ust"), recording.Text("tracer_name", "lttng-ust"),
			{Name: "tracer_major", Number: 2}, {Name: "tracer_minor", Number: 13},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	class, err := theirs.StreamClass(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tick, err := theirs.EventClass(class, "lttng:tick", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := theirs.Stream(class, "channel", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []time.Duration{2, 4} {
		if err := s.Write(tick, uint64(at*time.Second), nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(babeltrace2, "--clock-seconds", "--no-delta", filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")).CombinedOutput()
	if err != nil {
		t.Fatalf("babeltrace2: %v\n%s", err, out)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		for _, name := range []string{"app:mark", "lttng:tick"} {
			if strings.Contains(line, name) {
				names = append(names, name)
			}
		}
	}
	if got := strings.Join(names, " "); got != "app:mark lttng:tick app:mark lttng:tick" {
		t.Errorf("babeltrace2 prints\n%s", out)
	}
}
