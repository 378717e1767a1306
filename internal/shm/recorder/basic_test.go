package recorder_test

import (
	"os"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/marker"
)

var (
	twoInts = marker.New2[int, uint64]("rectest:two_ints", "a %d b %d")
	mixed   = marker.New5[int8, string, bool, []byte, float32]("rectest:mixed", "n %d s %s t %t b %x f %g")
)

func TestRecord(t *testing.T) {
	if _, err := recorder.Start(recorder.Options{Dir: t.TempDir(), Name: "one", Patterns: []string{"rectest:*"}, Where: "a != 3 || n == 7"}); err == nil || !strings.Contains(err.Error(), "no field") {
		t.Fatalf("a condition that fits no marker: %v", err)
	}
	dir := t.TempDir()
	s, err := recorder.Start(recorder.Options{Dir: dir, Name: "one", Patterns: []string{"rectest:*"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	for i := range 10 {
		twoInts.Mark(-i, 1<<63)
		text, blob := strings.Repeat("x", i), []byte{byte(i)}
		mixed.Mark(int8(-i), text, i%2 == 0, blob, 1.5)
	}
	f, err := os.OpenFile(s.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ring.Open(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s.Stop()
	n := 0
	for i := range r.Rings() {
		for {
			rec, err := r.Next(i)
			if err != nil {
				t.Fatal(err)
			}
			if rec == nil {
				break
			}
			v, err := rec.Values(nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(rec.Event.FullName(), rec.Number, rec.Monotonic, rec.Goroutine, v)
			n++
		}
	}
	if n != 20 {
		t.Errorf("%d events, 20 were marked: %+v", n, s.Stats())
	}
	if twoInts.Enabled() {
		t.Error("the marker is still enabled")
	}
	t.Logf("%+v %+v", r.Info(), s.Stats())
}
