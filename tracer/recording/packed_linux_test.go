package recording_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracepoint"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/recording"
)

var packedFlag = flag.Int("packed", 4000, "how many events are recorded both ways and compared with babeltrace2")

// packedEvents returns how many events TestPacked compares. One goroutine compares them, so the race detector
// finds nothing in more of them.
func packedEvents() int {
	if testing.Short() {
		return *packedFlag / 8
	}
	return *packedFlag
}

// Every kind, at every offset that the kinds before it leave, before texts and behind them.
var (
	whole = marker.New8[bool, int8, int16, int32, int64, int, uint8, uint16]("packed:whole", "a %t b %d c %x d %d e %d f %o g %b h %d")
	mixed = marker.New8[uint32, uint64, uint, uintptr, float32, float64, string, []byte]("packed:mixed", "a %d b %d c %d d %x e %f f %f s %s x %x")
	texts = marker.New5[string, int8, []byte, float64, string]("packed:texts", "s %s b %d x %x f %f t %s")
	none  = marker.New0("packed:none", "")

	typed  = tracepoint.New6[*int, int16, bool, func(), float32, uint64]("packed:typed", "at", "short", "yes", "f", "half", "long")
	partly = tracepoint.New8[uint8, [3]uint16, uint32, any, []byte, uint16, struct{ a string }, string]("packed:partly",
		"octet", "array", "word", "any", "blob", "short", "struct", "text")
)

// markAny marks one of them with any values. Markers with texts have empty ones only if babeltrace2, of which Debian's prints
// others in their place, is not to see them.
func markAny(r *rand.Rand, empty bool) {
	text := func() string {
		n := []int{1, 7, 8, 9, 40, 41, 300}[r.IntN(7)]
		if empty && r.IntN(3) == 0 {
			n = 0
		}
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(r.IntN(26))
		}
		if n > 1 && r.IntN(5) == 0 {
			b[1+r.IntN(n-1)] = 0 // in front it would be empty, to babeltrace2
		}
		return string(b)
	}
	n := r.Uint64() >> r.IntN(64)
	switch r.IntN(6) {
	case 0:
		whole.Mark(n&1 == 0, int8(n), int16(n), int32(n), int64(n), int(-n), uint8(n), uint16(n))
	case 1:
		mixed.Mark(uint32(n), n, uint(n), uintptr(n), float32(int64(n)), float64(n), text(), []byte(text())) //waymark:ignore they are recorded
	case 2:
		texts.Mark(text(), int8(n), []byte(text()), 1/float64(n), text()) //waymark:ignore they are recorded
	case 3:
		none.Mark()
	case 4:
		at := new(int)
		typed.Trace(at, int16(n), n&1 == 0, func() { *at++ }, float32(int64(n)), n) //waymark:ignore they are recorded
	case 5:
		partly.Trace(uint8(n), [3]uint16{1, 2, 3}, uint32(n), n, []byte(text()), uint16(n), struct{ a string }{"x"}, text()) //waymark:ignore they are recorded
	}
}

// recordRandom records events in rings, and writes two traces of them: packed, and value by value.
func recordRandom(t *testing.T, empty bool) (packed, plain string) {
	t.Helper()
	dir := t.TempDir()
	s, err := recorder.Start(recorder.Options{Dir: dir, Name: "random", Patterns: []string{"packed:*"}, Size: uint64(2*max(packedEvents(), 4000)) << 11, MaxString: 256})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	r := rand.New(rand.NewPCG(peer.Seed(t), 1))
	for range packedEvents() {
		markAny(r, empty)
	}
	packed, plain = filepath.Join(dir, "packed"), filepath.Join(dir, "plain")
	writeTrace(t, s.Path(), packed, inRuns)
	writeTrace(t, s.Path(), plain, oneByOne)
	return packed, plain
}

// inRuns records events as they lay in memory.
func inRuns(w *recording.Writer, events *client.Ring) error {
	c, err := w.PackedChannel("agent")
	if err != nil {
		return err
	}
	var wrong error
	return errors.Join(events.Rings().Batches(context.Background(), func(b *ring.Batch) {
		if wrong == nil {
			_, wrong = c.Write(b)
		}
	}), wrong)
}

// oneByOne takes them apart.
func oneByOne(w *recording.Writer, events *client.Ring) error {
	c, err := w.Channel("agent", "buffer_full")
	if err != nil {
		return err
	}
	for {
		var e event.Event
		err := events.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.Write(&e)
		}
		if err != nil {
			return err
		}
	}
}

func writeTrace(t *testing.T, ring, dir string, fill func(*recording.Writer, *client.Ring) error) {
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
	if err := fill(w, events); err != nil {
		t.Fatal(err)
	}
	if s := w.Stats(); s.Events != uint64(packedEvents()) || s.Total() != 0 {
		t.Errorf("%s: %+v of %d events", dir, s, packedEvents())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Events that are copied as they lay in memory are the same, to us and to babeltrace2, as those that are taken apart.
func TestPacked(t *testing.T) {
	for _, empty := range []bool{false, true} {
		packed, plain := recordRandom(t, empty)
		a, b := openTrace(t, packed), openTrace(t, plain)
		n := 0
		for ; ; n++ {
			x, errX := a.Next()
			y, errY := b.Next()
			if errX == io.EOF && errY == io.EOF {
				break
			}
			if errX != nil || errY != nil {
				t.Fatalf("event %d: %v, %v", n, errX, errY)
			}
			// The clock is read while rings are: two readers may differ by what it says of its rate.
			if d := x.Time - y.Time; d < -time.Millisecond || d > time.Millisecond {
				t.Fatalf("event %d: %v and %v", n, x.Time, y.Time)
			}
			x.Event.Time = y.Event.Time
			if d := cmp.Diff(x.Event, y.Event, same); d != "" {
				t.Fatalf("event %d (-packed +by values):\n%s", n, d)
			}
			if x.Goroutine == 0 || x.PID == 0 || x.Comm == "" {
				t.Fatalf("event %d is of goroutine %d in process %d, %q", n, x.Goroutine, x.PID, x.Comm)
			}
		}
		if n != packedEvents() {
			t.Errorf("%d of %d events", n, packedEvents())
		}
		if !empty {
			samePrinted(t, packed, plain, packedEvents())
		}
	}
}

func openTrace(t *testing.T, dir string) *recording.Reader {
	t.Helper()
	r, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// fieldsOf finds an event's name and, behind its contexts, its fields in what babeltrace2 prints.
var fieldsOf = regexp.MustCompile(`((?:packed|headers):\w+): .* goroutine = (\d+) \}(.*)$`)

// samePrinted compares what babeltrace2 prints of two traces, line by line.
func samePrinted(t *testing.T, a, b string, events int) {
	t.Helper()
	program := peer.Need(t, "babeltrace2")[0]
	lines := func(dir string) (*bufio.Scanner, *exec.Cmd) {
		cmd := exec.Command(program, dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		s := bufio.NewScanner(out)
		s.Buffer(nil, 1<<20)
		return s, cmd
	}
	x, first := lines(a)
	y, second := lines(b)
	n := 0
	for x.Scan() && y.Scan() {
		n++
		got, want := fieldsOf.FindStringSubmatch(x.Text()), fieldsOf.FindStringSubmatch(y.Text())
		if got == nil || want == nil || strings.Join(got[1:], " ") != strings.Join(want[1:], " ") {
			t.Fatalf("line %d:\n%s\n%s", n, x.Text(), y.Text())
		}
	}
	if e, f := first.Wait(), second.Wait(); n != events || e != nil || f != nil {
		t.Errorf("babeltrace2 printed %d of %d events: %v, %v", n, events, e, f)
	}
}
