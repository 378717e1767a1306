package tracer

import (
	"errors"
	"slices"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// The kernel compares durations as numbers of nanoseconds.
func TestWhereDuration(t *testing.T) {
	path := linked(t, gobuild.Config{}, "testdata/durations")
	for where, want := range map[string][]int64{
		"took > 5ms":                         {7, 8, 9},
		"took <= -1us":                       {0},
		"took - 1.5ms == 500us || took == 0": {1, 3},
		"took >= 7000000":                    {8, 9},
	} {
		p := startTick(t, path, 0)
		target := PIDs(p.PID())
		markers := mustFind(t, target)
		if f := markers[0].Fields[1]; f.Kind != event.Duration || f.Type != "time.Duration" {
			t.Errorf("field %+v", f)
		}
		tr, err := Trace(target, markers, &TraceOptions{Attach: Attach{Where: where}})
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		defer tr.Close()
		p.run()
		p.Expect("done")
		if err := tr.Stop(); err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, e := range drain(t, tr) {
			got = append(got, int64(e.Values[0].Bits()))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", where, got, want)
		}
	}
	p := startTick(t, path, 0)
	target := PIDs(p.PID())
	var wrong *WhereError
	if _, err := Trace(target, mustFind(t, target), &TraceOptions{Attach: Attach{Where: "n > 5ms"}}); !errors.As(err, &wrong) || wrong.Hint != "write a number in its own unit: 5ms is 5000000 nanoseconds" {
		t.Errorf("a number without a unit: %v", err)
	}
}
