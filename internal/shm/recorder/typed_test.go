package recorder_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracepoint"
)

type (
	pair  struct{ a, b uint8 }
	level int16
)

var (
	typed      = tracepoint.New8[uint8, pair, string, error, level, [3]byte, []byte, *pair]("rectyped:mixed", "octet", "pair", "text", "err", "level", "array", "blob", "at")
	typedLate  = tracepoint.New2[pair, int]("rectypedlate:all", "pair", "n")
	typedTook  = tracepoint.New2[int8, time.Duration]("rectypedtook:all", "n", "took")
	typedStorm = tracepoint.New2[*pair, int]("rectypedstorm:all")
	typedNames = tracepoint.New2[int, int]("rectypedwrong:all", "n") //waymark:ignore a wrong name is what is tested
	typedBad   = tracepoint.New2[int, int]("rectypedsome:bad", "n")  //waymark:ignore a wrong name is what is tested
	typedGood  = tracepoint.New1[int]("rectypedsome:good", "n")
	typedNone  = tracepoint.New1[any]("rectypednone:all")
	typedBoth  = tracepoint.New2[int, pair]("rectypedboth:all", "n", "pair")
)

// A tracepoint is recorded from its first pass on, each argument by its name, with what it has for a value, or why it has none.
func TestTracepoint(t *testing.T) {
	if !peer.Alone(t) { // nobody knows the types before
		return
	}
	s := start(t, recorder.Options{Patterns: []string{"rectyped:*"}, MaxString: 10})
	at := &pair{1, 2}
	for n := range 40 {
		text, wrong, array, bytes := strings.Repeat("s", n), errors.New("no"), [3]byte{9, 9, 9}, []byte(strings.Repeat("b", n/2))
		typed.Trace(uint8(n), *at, text, wrong, level(-n), array, bytes, at)
	}
	if i := typed.Info(); i.Hits != 0 || i.Armed != 0 || i.Fields[0].Type != "uint8" || i.Fields[1].Unavailable != "a struct is not recorded" {
		t.Errorf("%+v", i)
	}
	all, values := events(t, s)
	if len(all) != 40 {
		t.Fatalf("%d events: %+v", len(all), s.Stats())
	}
	var fields []string
	for _, f := range all[0].Event.Fields {
		fields = append(fields, fmt.Sprintf("%s %s %d %s", f.Name, f.Type, f.Kind, f.Unavailable))
	}
	want := []string{
		fmt.Sprintf("octet uint8 %d ", event.Uint8), "pair recorder_test.pair 0 a struct is not recorded", fmt.Sprintf("text string %d ", event.String),
		"err error 0 an interface is not recorded", fmt.Sprintf("level recorder_test.level %d ", event.Int16), "array [3]uint8 0 an array is not recorded",
		fmt.Sprintf("blob []uint8 %d ", event.Bytes), fmt.Sprintf("at *recorder_test.pair %d ", event.Pointer),
	}
	if !slices.Equal(fields, want) {
		t.Errorf("fields %q, want %q", fields, want)
	}
	address := fmt.Sprintf("%p", at)
	for n, v := range values {
		if len(v) != 8 || v[0].Bits() != uint64(n) || string(v[2].Bytes()) != strings.Repeat("s", min(n, 10)) || v[2].Len() != n || int64(v[4].Bits()) != int64(-n) ||
			string(v[6].Bytes()) != strings.Repeat("b", min(n/2, 10)) || v[6].Len() != n/2 || fmt.Sprintf("%#x", v[7].Bits()) != address {
			t.Errorf("event %d: %+v", n, v)
		}
	}
	if st := s.Stats(); st.Truncated != 29 || typed.Enabled() {
		t.Errorf("%+v, enabled: %t", st, typed.Enabled())
	}
}

// A condition reads the arguments where they lie, whatever lies before them; what it cannot be about is refused, at once or, where only
// a pass tells the types, then: those passes are lost and the reason is told.
func TestTracepointFilter(t *testing.T) {
	if !peer.Alone(t) { // nobody knows the types before
		return
	}
	s := start(t, recorder.Options{Patterns: []string{"rectypedlate:*"}, Where: "pair == 3"})
	var p pair
	typedLate.Trace(p, 1)
	got, _ := events(t, s)
	st := s.Stats()
	var wrong *filter.Error
	if len(got) != 0 || st.Undescribed != 1 || len(st.Problems) != 1 || !errors.As(st.Problems[0], &wrong) || !strings.Contains(wrong.Reason, "a struct is not recorded") {
		t.Errorf("%d events, %+v", len(got), st)
	}
	for _, where := range []string{"pair == 3", "nobody == 3"} {
		if _, err := recorder.Start(recorder.Options{Patterns: []string{"rectypedlate:*"}, Where: where}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", where, err)
		}
	}
	s = start(t, recorder.Options{Patterns: []string{"rectypedlate:*"}, Where: "n >= 7"})
	p = pair{7, 7}
	for n := range 10 {
		typedLate.Trace(p, n)
	}
	_, values := events(t, s)
	if st := s.Stats(); len(values) != 3 || values[0][1].Bits() != 7 || st.Filtered != 7 {
		t.Errorf("%d events, %+v", len(values), st)
	}
	if _, err := recorder.Start(recorder.Options{Patterns: []string{"rectypedwrong:*"}, Where: "n == 1"}); err == nil || !strings.Contains(err.Error(), `tracepoint rectypedwrong:all: tracepoint "rectypedwrong:all": it names 1 of 2`) {
		t.Errorf("a wrong declaration: %v", err)
	}
	if typedLate.Enabled() || typedNames.Enabled() {
		t.Error("refused, and left enabled")
	}
}

// A tracepoint that is declared wrongly takes nobody with it: all sessions record the others, count its passes as lost and
// tell why, whether its types were known before or not.
func TestTracepointWrong(t *testing.T) {
	for _, where := range []string{"", "", "n == 1"} {
		s := start(t, recorder.Options{Patterns: []string{"rectypedsome:*"}, Where: where})
		typedBad.Trace(1, 2)
		typedGood.Trace(1)
		all, _ := events(t, s)
		st := s.Stats()
		if len(all) != 1 || all[0].Event.FullName() != "rectypedsome:good" || st.Undescribed != 1 || st.Markers != 2 ||
			len(st.Problems) != 1 || !strings.Contains(st.Problems[0].Error(), "it names 1 of 2") {
			t.Errorf("%q: %d events, %+v", where, len(all), st)
		}
	}
	if _, err := recorder.Start(recorder.Options{Patterns: []string{"rectypedsome:bad"}}); err == nil || !strings.Contains(err.Error(), "it names 1 of 2") {
		t.Errorf("nothing else: %v", err)
	}
	if typedBad.Enabled() || typedGood.Enabled() {
		t.Error("left enabled")
	}
}

// Sessions that come and go while goroutines pass a tracepoint whose types nobody knew: each has every pass or counts it as lost
// from its beginning to its end, and a probe is called for each beside them.
func TestTracepointAccounting(t *testing.T) {
	if !peer.Alone(t) { // nobody knows the types before
		return
	}
	const passes, writers = 20_000, 4
	var called atomic.Uint64
	whole := start(t, recorder.Options{Patterns: []string{"rectypedstorm:*"}, Mode: ring.Discard, Size: 64 << 10})
	small := start(t, recorder.Options{Patterns: []string{"rectypedstorm:*"}, Mode: ring.Overwrite, Size: 16 << 20})
	p, err := typedStorm.Register(func(*pair, int) { called.Add(1) })
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			at := &pair{}
			for n := range passes {
				typedStorm.Trace(at, n)
			}
		})
	}
	for range 5 {
		s := start(t, recorder.Options{Patterns: []string{"rectypedstorm:*"}, Mode: ring.Count, Where: "arg2 >= 0"})
		s.Stop()
		if st := s.Stats(); st.Undescribed != 0 {
			t.Errorf("%+v", st)
		}
	}
	all.Wait()
	p.Unregister()
	for _, s := range []*recorder.Session{whole, small} {
		s.Stop()
		if st := s.Stats(); st.Events+st.Full+st.NoRing+st.Undescribed != passes*writers || st.Undescribed != 0 || len(st.Problems) != 0 {
			t.Errorf("%+v of %d", st, passes*writers)
		}
	}
	if n := called.Load(); n != passes*writers || typedStorm.Info().Hits != n {
		t.Errorf("the probe was called %d times, %+v", n, typedStorm.Info())
	}
}

// Nothing is allocated for a pass, whatever of it is recorded, and one of which nothing is leaves an event all the same. Probes
// are called beside that, one that panics once.
func TestTracepointNoAllocations(t *testing.T) {
	at, calls := &pair{}, 0
	tracepoint.OnProblem(func(error) {})
	defer tracepoint.OnProblem(nil)
	for _, probe := range []func(int, pair){func(int, pair) { calls++; panic("once") }, func(int, pair) { calls++ }} {
		p, err := typedBoth.Register(probe)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Unregister()
	}
	for _, where := range []string{"", "n > 5"} {
		s := start(t, recorder.Options{Patterns: []string{"rectypedboth:*", "rectypednone:*"}[:2-min(len(where), 1)], Mode: ring.Overwrite, Where: where})
		n := 0
		typedBoth.Trace(n, *at)
		calls = 0
		if got := testing.AllocsPerRun(2000, func() { n++; typedBoth.Trace(n%10, *at); typedNone.Trace(at) }); got != 0 {
			t.Errorf("condition %q: %v allocations", where, got)
		}
		s.Stop()
		if st := s.Stats(); where == "" && st.Events != 1+2*2001 || st.Undescribed != 0 || calls != 2001 {
			t.Errorf("%+v, %d calls", st, calls)
		}
	}
}
