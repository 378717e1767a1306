package recording_test

import (
	"errors"
	"io"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// all is a point with a field of every kind.
func all() *event.Point {
	m := &event.Point{Provider: "http", Name: "all:kinds", Format: "b %t s %s"}
	for k := event.Bool; k <= event.Duration; k++ {
		name := strings.NewReplacer("[]", "", ".", "").Replace(k.String())
		m.Fields = append(m.Fields, event.Field{Name: name, Type: k.String(), Kind: k})
	}
	m.Fields[2].Verb = "%x"
	m.Fields[5].Names = map[int64]string{-1: "none", 1: "one"}
	m.Fields[int(event.Bytes)-1].Elem = event.Int16
	m.Fields = append(m.Fields, event.Field{Name: "string_length", Type: "int", Kind: event.Int}, event.Field{Name: "no-word", Kind: event.String})
	return m
}

func values(m *event.Point, bits uint64, text string) []event.Value {
	var all []event.Value
	for _, f := range m.Fields {
		bits := bits
		switch size := f.Kind.Size(); {
		case f.Kind.HasLength():
			all = append(all, event.Text(f.Kind, []byte(text), len(text)))
			continue
		case f.Kind == event.Bool:
			bits &= 1
		case size < 8 && f.Kind.Signed():
			bits = uint64(int64(bits<<(64-8*size)) >> (64 - 8*size))
		case size < 8:
			bits = bits << (64 - 8*size) >> (64 - 8*size)
		}
		all = append(all, event.Number(f.Kind, bits))
	}
	return all
}

// same compares events: errors by their texts.
var same = cmp.Options{
	cmp.Comparer(func(a, b error) bool { return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error()) }),
	cmp.AllowUnexported(event.Value{}), cmpopts.EquateEmpty(),
}

// TestRoundTrip gives back the events that were recorded, whatever is the encoding with their values.
func TestRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "trace")
	w, err := recording.Create(dir, &recording.Options{Offset: 1_700_000_000 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c, err := w.Channel("kernel", "buffer_full")
	if err != nil {
		t.Fatal(err)
	}
	m := all()
	var want []event.Event
	record := func(v []event.Value, at time.Duration) {
		e := event.Event{Time: at, PID: 7, TID: 8, CPU: 1, Comm: "it's", Goroutine: 18, Point: m, Values: v}
		if err := c.Write(&e); err != nil {
			t.Fatal(err)
		}
		want = append(want, e)
	}
	record(values(m, 1, "/x"), 10)
	record(values(m, math.MaxUint64, ""), 11)
	record(values(m, math.Float64bits(math.NaN()), "a\x00b\xff"), 12)
	cut := values(m, 5, "cut")
	for i, f := range m.Fields {
		if f.Kind.HasLength() {
			cut[i] = event.Text(f.Kind, []byte("cut"), []int{300, -1}[i%2])
		}
	}
	record(cut, 13)
	bad := values(m, 5, "x")
	bad[3], bad[14] = event.Missing(errors.New("memory could not be read")), event.Missing(errors.New("event is too short"))
	record(bad, 14)
	other := values(m, 1<<63, "x")
	other[4] = event.Number(event.Uint64, other[4].Bits()) // a site that passes what the field's kind cannot hold
	record(other, 15)
	late := want[0] // after later ones of its CPU
	late.Time = 12
	if err := c.Write(&late); err != nil {
		t.Fatal(err)
	}
	want = append(want[:3:3], append([]event.Event{late}, want[3:]...)...)
	if err := c.SetLost(1, 42); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if s := w.Stats(); s.Events != uint64(len(want)) || s.Unsaved != 0 || s.Total() != 42 {
		t.Errorf("statistics are %+v", s)
	}
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := 0; ; i++ {
		e, err := r.Next()
		if err == io.EOF {
			if i != len(want) {
				t.Errorf("%d of %d events", i, len(want))
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want[i], e.Event, same); d != "" {
			t.Errorf("event %d (-recorded +read):\n%s", i, d)
		}
		if ns := r.Clock().Wall(e.Time).UnixNano(); ns != 1_700_000_000_000_000_000+int64(want[i].Time) {
			t.Errorf("event %d is at %d", i, ns)
		}
	}
	if lost, err := r.Losses(); len(lost) != 1 || lost[0].Count != 42 || err != nil {
		t.Errorf("lost: %+v", lost)
	}
	out, err := exec.Command(peer.Need(t, "babeltrace2")[0], "--clock-seconds", "--no-delta", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{
		`goroutine = 18`, `unavailable = "memory could not be read"`, `{ begin_length = 3, begin = "cut", size = 300 }`, `bool = ( "true" : container = 1 )`,
		`string = "/x"`, `pid = 7, tid = 8, comm = "it\'s"`, `[1700000000.000000012]`,
	} {
		if !strings.Contains(string(out), s) {
			t.Errorf("babeltrace2 does not print %s:\n%s", s, out)
		}
	}
	if n := strings.Count(string(out), "\n"); n != len(want) {
		t.Errorf("babeltrace2 prints %d of %d events", n, len(want))
	}
}
