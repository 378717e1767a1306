package recorder_test

import (
	"errors"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/marker"
)

var (
	filtered  = marker.New3[int, string, bool]("recfilter:all", "n %d path %s ok %t")
	unlearned = marker.New1[string]("reclate:late", "text %s")
	sized     = marker.New4[int32, uint8, string, []byte]("recsize:all", "n %d b %d s %s x %x")
	took      = marker.New2[int8, time.Duration]("rectook:all", "n %d took %s")
	odd       = marker.New3[int32, int16, uint8]("recodd:all", "a %d b %d c %d")
)

// start records in memory until the test ends.
func start(t *testing.T, o recorder.Options) *recorder.Session {
	t.Helper()
	s, err := recorder.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// events ends the session and returns what it has recorded, in order of time.
func events(t *testing.T, s *recorder.Session) (all []ring.Record, values [][]event.Value) {
	t.Helper()
	r, err := s.File().Reader()
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
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
			for i := range v {
				if v[i].Kind().HasLength() {
					v[i] = event.Text(v[i].Kind(), slices.Clone(v[i].Bytes()), v[i].Len())
				}
			}
			// A goroutine may have gone from one P, and ring, to another.
			at := sort.Search(len(all), func(i int) bool { return all[i].Monotonic > rec.Monotonic })
			all, values = slices.Insert(all, at, *rec), slices.Insert(values, at, v)
		}
	}
	return all, values
}

// What a condition keeps out is counted, and what it lets through is recorded, as Go would decide it.
func TestFilter(t *testing.T) {
	for _, tt := range []struct {
		where string
		holds func(n int, path string, ok bool) bool
	}{
		{"n > 3 && n != 7", func(n int, _ string, _ bool) bool { return n > 3 && n != 7 }},
		{`path ~ "/api/*" && ok`, func(_ int, path string, ok bool) bool { return strings.HasPrefix(path, "/api/") && ok }},
		{`!(arg2 == "/") || arg1 - 5 < 0`, func(n int, path string, _ bool) bool { return path != "/" || n-5 < 0 }},
		{"pid > 0 && goroutine > 0", func(int, string, bool) bool { return true }},
	} {
		s := start(t, recorder.Options{Patterns: []string{"recfilter:*"}, Where: tt.where})
		want := 0
		const passes = 100
		for n := range passes {
			path, ok := []string{"/", "/api/x", "/api", "/api/"}[n%4], n%3 == 0
			filtered.Mark(n%11, path, ok)
			if tt.holds(n%11, path, ok) {
				want++
			}
		}
		got, _ := events(t, s)
		if st := s.Stats(); len(got) != want || int(st.Filtered) != passes-want {
			t.Errorf("%s: %d events and %d filtered, want %d of %d", tt.where, len(got), st.Filtered, want, passes)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		o    recorder.Options
		want string
	}{
		{recorder.Options{Patterns: []string{"nothing:here"}}, "no marker of the program matches"},
		{recorder.Options{Patterns: []string{"[:x"}}, "syntax error in pattern"},
		{recorder.Options{Patterns: []string{"recfilter:*"}, Where: "path > 3"}, "text"},
		{recorder.Options{Patterns: []string{"recfilter:*"}, Where: "comm == \"x\""}, "not known inside the program"},
		{recorder.Options{Patterns: []string{"recfilter:*"}, Where: "n >"}, "is missing"},
		{recorder.Options{Dir: t.TempDir(), Name: "../x"}, "no name of a session"},
		{recorder.Options{Dir: t.TempDir() + "/none", Name: "x"}, "no such file"},
		{recorder.Options{Size: 100}, "less than"},
	} {
		filtered.Mark(1, "", false)
		s, err := recorder.Start(tt.o)
		if err == nil {
			s.Stop()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want one with %q", tt.o, err, tt.want)
		}
		if filtered.Enabled() {
			t.Fatalf("%+v: the marker is left enabled", tt.o)
		}
	}
}

// A condition that turns out not to fit when a marker's types are learned: its events are lost, counted, and
// the reason is told.
func TestLearnedLate(t *testing.T) {
	if !peer.Alone(t) {
		return
	}
	s := start(t, recorder.Options{Patterns: []string{"reclate:*"}, Where: "text > 3"})
	for range 5 {
		unlearned.Mark("x")
	}
	got, _ := events(t, s)
	st := s.Stats()
	var wrong *filter.Error
	if len(got) != 0 || st.Undescribed != 5 || len(st.Problems) != 1 || !errors.As(st.Problems[0], &wrong) {
		t.Errorf("%d events, %+v", len(got), st)
	}
}

// Arguments of every size come back as they were, texts cut where they are too long.
func TestValues(t *testing.T) {
	s := start(t, recorder.Options{Patterns: []string{"recsize:*", "recodd:*"}, MaxString: 10})
	for n := range 40 {
		text, blob := strings.Repeat("s", n), []byte(strings.Repeat("b", n/2))
		sized.Mark(int32(-n), uint8(n), text, blob)
		odd.Mark(int32(-n), int16(-n), uint8(n))
	}
	_, values := events(t, s)
	if len(values) != 80 {
		t.Fatalf("%d events", len(values))
	}
	for i, v := range values {
		n := i / 2
		if int32(v[0].Bits()) != int32(-n) || len(v) == 3 && (int64(v[1].Bits()) != int64(-n) || v[2].Bits() != uint64(n)) {
			t.Errorf("event %d: %+v", i, v)
		}
		if len(v) == 4 && (string(v[2].Bytes()) != strings.Repeat("s", min(n, 10)) || v[2].Len() != n || string(v[3].Bytes()) != strings.Repeat("b", min(n/2, 10)) || v[3].Len() != n/2) {
			t.Errorf("event %d: %+v", i, v)
		}
	}
	if st := s.Stats(); st.Truncated != 29 { // n from 11 to 39
		t.Errorf("%d events are said to be cut", st.Truncated)
	}
}

// A duration is recorded as one, and a condition compares it with others.
func TestDuration(t *testing.T) {
	s := start(t, recorder.Options{Patterns: []string{"rectook:*", "rectypedtook:*"}, Where: "took > 3ms && took != 2h45m"})
	for n := range 10 {
		took.Mark(int8(n), time.Duration(n)*time.Millisecond)
	}
	took.Mark(11, 165*time.Minute)
	typedTook.Trace(9, -time.Millisecond)
	typedTook.Trace(10, time.Hour)
	all, values := events(t, s)
	if len(all) != 7 || s.Stats().Filtered != 6 {
		t.Fatalf("%d events, %+v", len(all), s.Stats())
	}
	for i, v := range values {
		want := []string{"4ms", "5ms", "6ms", "7ms", "8ms", "9ms", "1h0m0s"}[i]
		f := &all[i].Event.Fields[1]
		if got := string(f.AppendText(nil, &v[1])); got != want || f.Kind != event.Duration || v[1].Kind() != event.Duration {
			t.Errorf("event %d: %s, want %s; %+v", i, got, want, f)
		}
	}
}

// A pass that is recorded allocates nothing, whatever it carries and whoever filters it.
func TestNoAllocations(t *testing.T) {
	for _, where := range []string{"", "n > 5", `path ~ "*x*" && n >= 0`, "goroutine == 0"} {
		s := start(t, recorder.Options{Patterns: []string{"recfilter:*"}, Mode: ring.Overwrite, Where: where})
		n := 0
		if got := testing.AllocsPerRun(2000, func() { n++; filtered.Mark(n%10, "/a/text/x", true) }); got != 0 {
			t.Errorf("condition %q: %v allocations", where, got)
		}
		s.Stop()
	}
}
