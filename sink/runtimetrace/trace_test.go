package runtimetrace_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/trace"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/diff"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink"
	"github.com/waymark-trace/waymark/sink/runtimetrace"
)

var (
	outerBegin = marker.New1[string]("tracetest:outer_begin", "name %q")
	outerEnd   = marker.New0("tracetest:outer_end", "")
	innerBegin = marker.New0("tracetest:inner_begin", "")
	innerEnd   = marker.New0("tracetest:inner_end", "")
	jobBegin   = marker.New1[int]("tracetest:job_begin", "id %d")
	jobEnd     = marker.New2[int, bool]("tracetest:job_end", "id %d ok %t")

	outer = sink.Pair{Begin: "tracetest:outer_begin", End: "tracetest:outer_end"}
	inner = sink.Pair{Begin: "tracetest:inner_begin", End: "tracetest:inner_end"}
	job   = sink.Pair{Begin: "tracetest:job_begin", End: "tracetest:job_end", Key: "id"}
)

func connect(t testing.TB, o runtimetrace.Options) *runtimetrace.Sink {
	t.Helper()
	s, err := runtimetrace.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// traced returns a trace of a call of fn.
func traced(t *testing.T, fn func()) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		t.Skip("the runtime traces already: ", err)
	}
	fn()
	trace.Stop()
	return out.Bytes()
}

var annotation = regexp.MustCompile(`(?m)^M=\S+ P=\S+ G=(\d+) (Log|Region\w+|Task\w+) Time=\d+ (?:Task|ID)=(\d+) (?:Parent=\d+ )?(.*)$`)

// annotations returns the user events that go tool trace finds in a trace: "G1 RegionBegin 0 Type=…".
// Goroutines and tasks are numbered in the order in which they appear; task 0 is none.
func annotations(t *testing.T, recorded []byte) (found []string) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	path := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(path, recorded, 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.Command("go", "tool", "trace", "-d=parsed", path)
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("go tool trace: %v\n%s", err, &stderr)
	}
	goroutines, tasks := map[string]int{}, map[string]int{"0": 0}
	number := func(in map[string]int, name string, first int) int {
		if _, ok := in[name]; !ok {
			in[name] = len(in) + first
		}
		return in[name]
	}
	for _, m := range annotation.FindAllStringSubmatch(string(text), -1) {
		if strings.Contains(m[4], "tracetest:") || strings.Contains(m[4], "own") {
			found = append(found, fmt.Sprintf("G%d %s %d %s", number(goroutines, m[1], 1), m[2], number(tasks, m[3], 0), m[4]))
		}
	}
	return found
}

func compare(t *testing.T, recorded []byte, want ...string) {
	t.Helper()
	if d := diff.Of(want, annotations(t, recorded)); d != "" {
		t.Errorf("annotations (-want +got):\n%s", d)
	}
}

func TestLog(t *testing.T) {
	connect(t, runtimetrace.Options{Log: []string{"tracetest:*"}})
	compare(t, traced(t, func() {
		outerBegin.Mark(`a "b"`)
		outerEnd.Mark()
		jobEnd.Mark(7, true)
	}),
		`G1 Log 0 Category="tracetest:outer_begin" Message="name \"a \\\"b\\\"\""`,
		`G1 Log 0 Category="tracetest:outer_end" Message=""`,
		`G1 Log 0 Category="tracetest:job_end" Message="id 7 ok true"`,
	)
}

const (
	outerType = `Type="tracetest:outer_begin → tracetest:outer_end"`
	innerType = `Type="tracetest:inner_begin → tracetest:inner_end"`
	jobType   = `Type="tracetest:job_begin → tracetest:job_end by id"`
)

func TestRegionsNest(t *testing.T) {
	s := connect(t, runtimetrace.Options{Regions: []sink.Pair{outer, inner}})
	compare(t, traced(t, func() {
		outerBegin.Mark("")
		innerBegin.Mark()
		innerBegin.Mark() // in itself
		own := trace.StartRegion(context.Background(), "own")
		own.End()
		innerEnd.Mark()
		innerEnd.Mark()
		outerEnd.Mark()
	}),
		"G1 RegionBegin 0 "+outerType, "G1 RegionBegin 0 "+innerType, "G1 RegionBegin 0 "+innerType,
		`G1 RegionBegin 0 Type="own"`, `G1 RegionEnd 0 Type="own"`,
		"G1 RegionEnd 0 "+innerType, "G1 RegionEnd 0 "+innerType, "G1 RegionEnd 0 "+outerType,
	)
	if got := s.Losses(); got != (runtimetrace.Losses{}) {
		t.Errorf("lost %+v", got)
	}
}

// However wrongly a program marks, its trace can be read.
func TestRegionsThatDoNotNest(t *testing.T) {
	s := connect(t, runtimetrace.Options{Regions: []sink.Pair{outer, inner}})
	recorded := traced(t, func() {
		innerEnd.Mark()
		outerBegin.Mark("")
		innerBegin.Mark()
		innerBegin.Mark()
		outerEnd.Mark() // closes three
		innerEnd.Mark()
		for range 3000 {
			innerBegin.Mark()
		}
		for range 3000 {
			innerEnd.Mark()
		}
		outerEnd.Mark()
		var wg sync.WaitGroup
		wg.Go(func() { innerBegin.Mark() }) // and its goroutine ends
		wg.Wait()
		wg.Go(func() { innerEnd.Mark() })
		wg.Wait()
		outerBegin.Mark("") // and the trace ends
	})
	found := annotations(t, recorded)
	if n := len(slices.DeleteFunc(found, func(s string) bool { return !strings.Contains(s, "RegionEnd") })); n != 3+1024 {
		t.Errorf("%d regions ended, want 3 and 1024", n)
	}
	if got := s.Losses(); got.Unended != 2 || got.Dropped != 3000-1024 || got.Unbegun != 4 {
		t.Errorf("lost %+v", got)
	}
}

func TestTasksAcrossGoroutines(t *testing.T) {
	s := connect(t, runtimetrace.Options{Tasks: []sink.Pair{job}, Log: []string{"tracetest:job_*"}})
	compare(t, traced(t, func() {
		jobBegin.Mark(1)
		jobBegin.Mark(2)
		done := make(chan bool)
		go func() { jobEnd.Mark(2, false); done <- true }()
		<-done
		jobEnd.Mark(1, true)
		jobEnd.Mark(1, true)
	}),
		"G1 TaskBegin 1 "+jobType, `G1 Log 1 Category="tracetest:job_begin" Message="id 1"`,
		"G1 TaskBegin 2 "+jobType, `G1 Log 2 Category="tracetest:job_begin" Message="id 2"`,
		`G2 Log 2 Category="tracetest:job_end" Message="id 2 ok false"`, "G2 TaskEnd 2 "+jobType,
		`G1 Log 1 Category="tracetest:job_end" Message="id 1 ok true"`, "G1 TaskEnd 1 "+jobType,
		`G1 Log 0 Category="tracetest:job_end" Message="id 1 ok true"`,
	)
	if got := s.Losses(); got != (runtimetrace.Losses{Unbegun: 1}) {
		t.Errorf("lost %+v, want one end", got)
	}
}

// A region of an earlier trace must not end in a later one, where another may be the innermost.
func TestWhatIsOpenIsForgottenWithItsTrace(t *testing.T) {
	s := connect(t, runtimetrace.Options{Regions: []sink.Pair{outer, inner}, Tasks: []sink.Pair{job}})
	traced(t, func() {
		outerBegin.Mark("")
		innerBegin.Mark()
		jobBegin.Mark(1)
	})
	innerEnd.Mark() // nothing is traced
	compare(t, traced(t, func() {
		own := trace.StartRegion(context.Background(), "own")
		outerEnd.Mark()
		jobEnd.Mark(1, true)
		own.End()
	}), `G1 RegionBegin 0 Type="own"`, `G1 RegionEnd 0 Type="own"`)
	if got := s.Losses(); got != (runtimetrace.Losses{Unbegun: 2}) {
		t.Errorf("lost %+v, want two ends", got)
	}
}

func TestFlightRecorder(t *testing.T) {
	connect(t, runtimetrace.Options{Log: []string{"tracetest:outer_*"}, Regions: []sink.Pair{outer}})
	r := trace.NewFlightRecorder(trace.FlightRecorderConfig{MinAge: time.Minute})
	if err := r.Start(); err != nil {
		t.Skip("no flight recorder: ", err)
	}
	defer r.Stop()
	outerBegin.Mark("x")
	outerEnd.Mark()
	var out bytes.Buffer
	if _, err := r.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	compare(t, out.Bytes(),
		"G1 RegionBegin 0 "+outerType, `G1 Log 0 Category="tracetest:outer_begin" Message="name \"x\""`,
		`G1 Log 0 Category="tracetest:outer_end" Message=""`, "G1 RegionEnd 0 "+outerType)
}

func TestManyGoroutines(t *testing.T) {
	s := connect(t, runtimetrace.Options{Regions: []sink.Pair{outer, inner}, Tasks: []sink.Pair{job}})
	const goroutines, each = 20, 50
	recorded := traced(t, func() {
		var wg sync.WaitGroup
		for i := range goroutines {
			wg.Go(func() {
				for n := range each {
					outerBegin.Mark("")
					jobBegin.Mark(i*each + n)
					innerBegin.Mark()
					innerEnd.Mark()
					outerEnd.Mark()
				}
			})
			wg.Go(func() {
				for range each {
					innerBegin.Mark()
					innerEnd.Mark()
				}
			})
		}
		wg.Wait()
		for id := range goroutines * each {
			jobEnd.Mark(id, true)
		}
	})
	counts := map[string]int{}
	for _, a := range annotations(t, recorded) {
		counts[strings.Fields(a)[1]]++
	}
	want := map[string]int{"RegionBegin": 3 * goroutines * each, "RegionEnd": 3 * goroutines * each, "TaskBegin": goroutines * each, "TaskEnd": goroutines * each}
	if d := diff.Of(want, counts); d != "" || s.Losses() != (runtimetrace.Losses{}) {
		t.Errorf("lost %+v, annotations (-want +got):\n%s", s.Losses(), d)
	}
}

func TestConnectRefuses(t *testing.T) {
	for _, o := range []runtimetrace.Options{
		{},
		{Log: []string{"nowhere:*"}},
		{Regions: []sink.Pair{job}}, // by a key
		{Tasks: []sink.Pair{{Begin: "tracetest:job_begin", End: "tracetest:outer_end", Key: "id"}}},
		{Regions: []sink.Pair{{Begin: "tracetest:outer_begin"}}},
	} {
		if _, err := runtimetrace.Connect(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if outerBegin.Enabled() || jobBegin.Enabled() {
		t.Error("a marker is armed")
	}
}

func BenchmarkNothingIsTraced(b *testing.B) {
	connect(b, runtimetrace.Options{Log: []string{"tracetest:*"}, Regions: []sink.Pair{inner}})
	b.ReportAllocs()
	for b.Loop() {
		innerBegin.Mark()
		innerEnd.Mark()
	}
}

func BenchmarkRegion(b *testing.B) {
	connect(b, runtimetrace.Options{Regions: []sink.Pair{inner}})
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		b.Skip(err)
	}
	defer trace.Stop()
	b.ReportAllocs()
	for b.Loop() {
		innerBegin.Mark()
		innerEnd.Mark()
	}
}

// For comparison: the program's own.
func BenchmarkOwnRegion(b *testing.B) {
	var out bytes.Buffer
	if err := trace.Start(&out); err != nil {
		b.Skip(err)
	}
	defer trace.Stop()
	b.ReportAllocs()
	for b.Loop() {
		trace.StartRegion(context.Background(), "own").End()
	}
}
