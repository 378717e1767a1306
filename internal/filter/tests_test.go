package filter

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// values are those around which comparisons change.
var values = []string{"0", "1", "-1", "7", "-128", "127", "128", "255", "256", "2147483647", "-2147483648",
	"9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551615", "127ns", "-2.147483648s"}

var edges = []uint64{0, 1, 1<<64 - 1, 7, 1<<64 - 128, 127, 128, 255, 256, 1<<31 - 1, 1<<64 - 1<<31, 1<<63 - 1, 1 << 63, 1<<63 + 1}

// Tests decide as Eval does, whatever the condition and the values.
func TestTestsDecideAsEvalDoes(t *testing.T) {
	r := rand.New(rand.NewPCG(peer.FixedSeed(t, 5), 6))
	kinds := map[string]event.Kind{
		"i8": event.Int8, "u8": event.Uint8, "i32": event.Int32, "u32": event.Uint32, "i": event.Int64, "u": event.Uint64,
		"d": event.Duration, "b": event.Bool, "f": event.Float64, "s": event.String, "none": event.Invalid,
	}
	integers := []string{"i8", "u8", "i32", "u32", "i", "u", "d", "none"}
	pick := func(all []string) string { return all[r.IntN(len(all))] }
	ops := []string{"==", "!=", "<", "<=", ">", ">="}
	var condition func(depth int) string
	condition = func(depth int) string {
		switch n := r.IntN(12); {
		case depth > 0 && n < 3:
			return "(" + condition(depth-1) + " && " + condition(depth-1) + ")"
		case depth > 0 && n < 6:
			return "(" + condition(depth-1) + " || " + condition(depth-1) + ")"
		case depth > 0 && n == 6:
			return "!(" + condition(depth-1) + ")"
		case n == 7:
			return "b"
		case n == 8:
			return pick([]string{`s == "ab"`, `s ~ "a*"`, "f < 1.5", "i + 1 > u32", "i < u", "i8 & 3 == 1"})
		case n == 9:
			return pick(values) + " " + pick(ops) + " " + pick(integers)
		}
		return pick(integers) + " " + pick(ops) + " " + pick(values)
	}
	decided := [2]int{}
	for range 20_000 {
		text := condition(4)
		e, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		f, err := e.Bind(func(name string) (event.Kind, error) {
			if k, ok := kinds[name]; ok {
				return k, nil
			}
			return 0, fmt.Errorf("no %s", name)
		})
		if err != nil {
			if strings.Contains(err.Error(), "column") {
				continue
			}
			t.Fatalf("%s: %v", text, err)
		}
		tests := f.Tests()
		for i, step := range tests {
			if step.Yes >= 0 && step.Yes <= i || step.No >= 0 && step.No <= i || max(step.Yes, step.No) >= len(tests) {
				t.Fatalf("%s: step %d of %d leads to %d and %d", text, i, len(tests), step.Yes, step.No)
			}
		}
		for range 20 {
			v := make([]Value, len(f.Vars))
			for i, want := range f.Vars {
				v[i] = Value{Bits: as(edges[r.IntN(len(edges))], want.Kind), Text: []byte(pick([]string{"", "ab", "abc"}))}
			}
			get := func(i int) (Value, bool) { return v[i], true }
			want := f.Eval(get)
			if got := run(f, tests, get); got != want {
				t.Fatalf("%s with %v is %t, want %t: %+v", text, v, got, want, tests)
			}
			if want {
				decided[1]++
			} else {
				decided[0]++
			}
		}
	}
	if decided[0] < 10_000 || decided[1] < 10_000 {
		t.Errorf("%v were false and true: that compares little", decided)
	}
}

// run does what a user of Tests does.
func run(f *Filter, tests []Test, get func(int) (Value, bool)) bool {
	for at := 0; at >= 0; {
		step := &tests[at]
		holds := false
		if step.Node != nil {
			holds = f.EvalNode(step.Node, get)
		} else {
			v, _ := get(step.Var)
			holds = v.Bits-step.Low <= step.Span
		}
		if holds {
			at = step.Yes
		} else {
			at = step.No
		}
		if at == Accept {
			return true
		}
	}
	return false
}

// as is what a variable of a kind can hold.
func as(bits uint64, k event.Kind) uint64 {
	switch {
	case k == event.Bool:
		return bits & 1
	case !k.IsInteger():
		return bits
	}
	shift := 64 - 8*k.Size()
	if k.Signed() {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits << shift >> shift
}
