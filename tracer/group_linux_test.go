package tracer

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/event/source"
)

// rowName is the values of a group as text.
func rowName(k *KeyLatency) string {
	var row []byte
	for i := range k.Fields {
		row = append(k.Fields[i].AppendText(row, &k.Key.Values[i]), ' ')
	}
	return strings.TrimSpace(string(row))
}

// Pairs in groups are those that the program timed itself, each in one group, also while several threads count in one.
// Values are those of the begin where it has such a field, or else of the end, or else what every begin has.
func TestLatencyGroups(t *testing.T) {
	const threads, rounds = 4, 600
	for _, mode := range modes {
		for name, o := range map[string]struct {
			by   []string
			room int
			row  func(name string, status int) string
		}{
			"fields of the begin":       {[]string{"arg2", "arg1"}, 0, func(name string, _ int) string { return fmt.Sprint(keyText(name), " ", route(name)) }},
			"a field of the end":        {[]string{"arg3"}, 0, func(_ string, status int) string { return fmt.Sprint(status) }},
			"of both, and what all has": {[]string{"arg3", "comm", "arg2"}, 0, func(name string, status int) string { return fmt.Sprint(status, ` "groups" `, keyText(name)) }},
			"what no hit has":           {[]string{"arg1", "goroutine"}, 0, func(name string, _ int) string { return fmt.Sprint(route(name), " <unavailable>") }},
			"no room":                   {[]string{"arg1"}, 1, func(name string, _ int) string { return fmt.Sprint(route(name)) }},
		} {
			t.Run(fmt.Sprint(mode, " ", name), func(t *testing.T) {
				force(t, mode)
				p := startC(t, "groups", fmt.Sprint(threads), fmt.Sprint(rounds))
				target := PIDs(p.PID())
				all := mustFind(t, target)
				l, err := Latency(target, one(t, all, "begin"), one(t, all, "end"), &LatencyOptions{
					Attach: Attach{Strings: []string{"arg2"}}, By: o.by, MaxKeys: o.room,
				})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				p.run()
				inner, outer := map[string][]time.Duration{}, map[string][]time.Duration{}
				for _, line := range p.until() {
					var name string
					var status int
					var in, out time.Duration
					fmt.Sscan(line, &name, &status, (*int64)(&in), (*int64)(&out))
					row := o.row(name, status)
					inner[row], outer[row] = append(inner[row], in), append(outer[row], out)
				}
				got, err := l.Read()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff([5]uint64{threads * (rounds + 1), threads * rounds, 0, 0, 0}, counters(got)); diff != "" {
					t.Errorf("begins, ends, nested, unread, full (-want +got):\n%s", diff)
				}
				sum := got.Others.Count()
				for i := range got.Keys {
					k := &got.Keys[i]
					sum += k.Count()
					row := rowName(k)
					if inner[row] == nil {
						t.Errorf("a group %s of %d pairs", row, k.Count())
						continue
					}
					checkLatency(t, &Latencies{Histogram: k.Histogram}, inner[row], outer[row])
				}
				if sum != got.Count() || sum != threads*rounds {
					t.Errorf("%d pairs in groups, %d in all, want %d", sum, got.Count(), threads*rounds)
				}
				want := len(inner)
				if o.room > 0 {
					want = o.room
				}
				if len(got.Keys) != want || (got.Others.Count() > 0) != (o.room > 0) {
					t.Errorf("%d groups and %d others, want %d groups", len(got.Keys), got.Others.Count(), want)
				}
				again, err := l.Read()
				if err != nil || len(again.Keys) != want || want > 0 && again.Keys[0].Key != got.Keys[0].Key {
					t.Errorf("another Read has other keys: %v", err)
				}
			})
		}
	}
}

// keyText is a text as a key shows it.
func keyText(name string) string {
	if len(name) >= source.KeyText { // a NUL ends it
		return fmt.Sprintf("%q…", name[:source.KeyText-1])
	}
	return fmt.Sprintf("%q", name)
}

// route is the number of a route, by its name.
func route(name string) int {
	return slices.IndexFunc([]int{1, 6, 100}, func(n int) bool { return len(name) <= n })
}

// A name that neither side has is an error.
func TestLatencyGroupsUnknown(t *testing.T) {
	p := startC(t, "groups", "1", "1")
	target := PIDs(p.PID())
	all := mustFind(t, target)
	_, err := Latency(target, one(t, all, "begin"), one(t, all, "end"), &LatencyOptions{By: []string{"arg1", "nosuch"}})
	var none *NoFieldError
	if !errors.As(err, &none) || none.Name != "nosuch" {
		t.Errorf("%v", err)
	}
}
