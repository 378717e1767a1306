package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// hits runs a program under our tracer, and returns the lines that it printed and the events.
// Its markers are changed before, unless change is nil.
func hits(t *testing.T, path, patterns string, change func(*tracer.Marker)) (lines []string, events []*event.Event) {
	t.Helper()
	var out bytes.Buffer
	c, err := tracer.Start(context.Background(), []string{path}, &tracer.StartOptions{Stdout: &out, Stderr: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Signal(os.Kill)
	all, err := tracer.Find(context.Background(), tracer.PIDs(c.PID()))
	if err != nil {
		t.Fatal(err)
	}
	markers, err := tracer.Select(all, []string{patterns})
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		for _, m := range markers {
			change(m)
		}
	}
	tr, err := tracer.Trace(tracer.PIDs(c.PID()), markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	ended := make(chan error, 1)
	go func() { ended <- errors.Join(c.Resume(), c.Wait(), tr.Stop()) }()
	events = slices.Collect(drain(t, tr))
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n"), events
}

// sameValue reports whether a field's value is the number that the program printed.
func sameValue(f *event.Field, v *event.Value, printed string) bool {
	switch v.Kind() {
	case event.Float32:
		n, err := parseFloat(printed, 32)
		return err == nil && (math.Float32bits(float32(n)) == uint32(v.Bits()) || n != n && math.IsNaN(float64(math.Float32frombits(uint32(v.Bits())))))
	case event.Float64:
		n, err := parseFloat(printed, 64)
		return err == nil && (math.Float64bits(n) == v.Bits() || n != n && math.IsNaN(math.Float64frombits(v.Bits())))
	}
	if v.Kind().Signed() {
		return strconv.FormatInt(int64(v.Bits()), 10) == printed
	}
	return strconv.FormatUint(v.Bits(), 10) == printed
}

// parseFloat reads what C's %a prints.
func parseFloat(s string, size int) (float64, error) {
	if strings.HasSuffix(s, "nan") {
		return math.NaN(), nil
	}
	return strconv.ParseFloat(s, size)
}

// compareForms compares the events of the forms with what the program says, and the reasons with
// those that are to be given.
func compareForms(t *testing.T, path string, all []form) {
	t.Helper()
	number := func(m *event.Point) int {
		n, err := strconv.Atoi(strings.TrimPrefix(m.Name, "f"))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	lines, events := hits(t, path, "forms:*", func(m *tracer.Marker) {
		for i, a := range all[number(&m.Point)].args {
			m.Sites[0].Operands[i].Extend = a.extend
		}
	})
	if len(lines) != len(events) || len(events) < 40*len(all) {
		t.Fatalf("%d lines and %d events of %d forms", len(lines), len(events), len(all))
	}
	values, refused, wrong := 0, 0, 0
	for i, ev := range events {
		printed := strings.Fields(lines[i])
		n := number(ev.Point)
		if printed[0] != ev.Point.Name {
			t.Fatalf("event %d is of %s, line %q", i, ev.Point.Name, lines[i])
		}
		args := all[n].args
		if len(ev.Values) != len(args) || len(printed) != len(args)+1 {
			t.Fatalf("%s: %d values and %d printed of %d operands", ev.Point.Name, len(ev.Values), len(printed)-1, len(args))
		}
		for j := range args {
			a, v, f := &args[j], &ev.Values[j], &ev.Point.Fields[j]
			problem := ""
			switch {
			case a.reason != "":
				refused++
				if v.Err() == nil || !strings.Contains(v.Err().Error(), a.reason) {
					problem = fmt.Sprintf("%#x, %v, want %q", v.Bits(), v.Err(), a.reason)
				}
			case v.Err() != nil:
				problem = v.Err().Error()
			default:
				values++
				if !sameValue(f, v, printed[j+1]) {
					problem = fmt.Sprintf("got %#x as %v, want %s", v.Bits(), f.Kind, printed[j+1])
				}
			}
			if problem != "" {
				if wrong++; wrong < 30 {
					t.Errorf("%s, argument %d, %q after %q: %s", ev.Point.Name, j+1, a.text, all[n].setup, problem)
				}
			}
		}
	}
	t.Logf("%d forms, %d operands' values compared, %d refused, %d wrong", len(all), values, refused, wrong)
}
