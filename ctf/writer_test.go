package ctf_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// babeltrace2 returns the reference reader's output for a trace, one line for each event.
func babeltrace2(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(peer.Need(t, "babeltrace2")[0], append(args, dir)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("babeltrace2 %s: %v\n%s", dir, err, &stderr)
	}
	if len(out) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// oneMarker begins a trace with one kind of events, of one number.
func oneMarker(t *testing.T, dir string, o *ctf.Options) (*ctf.Writer, *ctf.StreamWriter, *ctf.EventClass) {
	t.Helper()
	w, err := ctf.Create(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	class, err := w.StreamClass(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	tick, err := w.EventClass(class, "tick", &ctf.Struct{Fields: []ctf.Field{{Name: "n", Type: &ctf.Integer{Size: 64}}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.Stream(class, "channel", 0)
	if err != nil {
		t.Fatal(err)
	}
	return w, s, tick
}

func TestOrderIsKept(t *testing.T) {
	w, s, tick := oneMarker(t, filepath.Join(t.TempDir(), "trace"), &ctf.Options{})
	for _, c := range []struct {
		time uint64
		want error
	}{{5, nil}, {5, nil}, {4, ctf.ErrOrder}, {6, nil}} {
		if err := s.Write(tick, c.time, nil, []ctf.Value{{Bits: c.time}}); !errors.Is(err, c.want) {
			t.Errorf("event at %d: %v, want %v", c.time, err, c.want)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := babeltrace2(t, w.Dir(), "--clock-cycles", "--no-delta"); len(got) != 3 || !strings.HasSuffix(got[2], "{ n = 6 }") {
		t.Errorf("babeltrace2 prints %q", got)
	}
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "precious"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ctf.Create(dir, &ctf.Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a directory with a file: %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("and it wrote: %v", entries)
	}
}

// TestRefusedEventsLeaveNoTrace writes events that cannot be, between some that can.
func TestRefusedEventsLeaveNoTrace(t *testing.T) {
	w, s, tick := oneMarker(t, filepath.Join(t.TempDir(), "trace"), &ctf.Options{})
	text, err := w.EventClass(tick.Stream, "text", &ctf.Struct{Fields: []ctf.Field{
		{Name: "bits", Type: &ctf.Integer{Size: 3, Order: ctf.BigEndian}},
		{Name: "length", Type: &ctf.Integer{Size: 8}},
		{Name: "data", Type: &ctf.Sequence{Length: "length", Elem: &ctf.Integer{Size: 8, UTF8: true}}},
		{Name: "end", Type: &ctf.Integer{Size: 5, Order: ctf.BigEndian}},
		{Name: "s", Type: &ctf.String{}},
		{Name: "tail", Type: &ctf.Integer{Size: 3, Order: ctf.BigEndian}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	values := func(length, tail uint64, s string) []ctf.Value {
		return []ctf.Value{{Bits: 5}, {Bits: length}, {Text: []byte("abc")}, {Bits: 17}, {Text: []byte(s)}, {Bits: tail}}
	}
	for i, bad := range [][]ctf.Value{nil, values(2, 1, ""), values(3, 8, ""), values(3, 1, "a\x00b"), values(3, 1, "")[:5]} {
		if err := s.Write(text, uint64(i), nil, values(3, 5, "x")); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(text, uint64(i), nil, bad); err == nil {
			t.Errorf("%d: values that do not fit the types were written", i)
		}
	}
	if err := s.Write(tick, 9, nil, []ctf.Value{{Bits: 9}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got := babeltrace2(t, w.Dir(), "--clock-cycles", "--no-delta")
	if len(got) != 6 {
		t.Fatalf("babeltrace2 prints %q", got)
	}
	for _, line := range got[:5] {
		if !strings.HasSuffix(line, `{ bits = 5, length = 3, data = "abc", end = 17, s = "x", tail = 5 }`) {
			t.Errorf("babeltrace2 prints %s", line)
		}
	}
}
