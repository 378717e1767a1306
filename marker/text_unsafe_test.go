package marker

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/event"
)

// Package fmt is the oracle for verbs that mean the same in C.
func TestTextAgainstFmt(t *testing.T) {
	integers := []int64{0, 1, -1, 42, -12345, math.MaxInt64, math.MinInt64}
	for _, flags := range []string{"", "-", "0", "+", " ", "#", "-8", "08", "+8", "20", "-20", "020", ".3", "8.3", "#20"} {
		for _, n := range integers {
			for _, verb := range []string{"d", "x", "X", "o", "b"} {
				if verb == "X" && strings.Contains(flags, "#") || verb == "o" && strings.Contains(flags, "#") || verb == "b" && strings.Contains(flags, "#") {
					continue // fmt writes 0X, and 0 before octal and 0b
				}
				check(t, "%"+flags+verb, n, Value{kind: event.Int64, bits: uint64(n)})
				if !strings.ContainsAny(flags, "+ ") { // C and Go differ on the sign of unsigned values
					check(t, "%"+flags+verb, uint64(n), Value{kind: event.Uint64, bits: uint64(n)})
				}
			}
		}
		if strings.ContainsAny(flags, "#0 ") {
			continue
		}
		for _, s := range []string{"", "text", "a rather longer text"} {
			check(t, "%"+flags+"s", s, Value{kind: event.String, bits: uint64(len(s)), data: unsafe.Pointer(unsafe.StringData(s))})
		}
		for _, f := range []float64{0, 1.5, -2.25, 1e300, math.Inf(1), math.NaN()} {
			if math.IsInf(f, 0) || math.IsNaN(f) {
				if flags != "" {
					continue
				}
			}
			for _, verb := range []string{"f", "e", "g"} {
				check(t, "%"+flags+verb, f, Value{kind: event.Float64, bits: math.Float64bits(f)})
			}
		}
	}
	if got := string(appendVerb(nil, event.Verb{Text: "%#010x", Char: 'x'}, Value{kind: event.Int, bits: 42})); got != "0x0000002a" {
		t.Errorf("%%#010x prints %q, C prints 0x0000002a and fmt is wider", got)
	}
	b := []byte{0, 0x7f, 0xff}
	bytes := Value{kind: event.Bytes, bits: 3, data: unsafe.Pointer(unsafe.SliceData(b))}
	check(t, "%x", b, bytes)
	check(t, "%X", b, bytes)
	check(t, "%q", b, bytes)
	check(t, "%c", rune(0x263a), Value{kind: event.Int32, bits: 0x263a})
	check(t, "%t", true, Value{kind: event.Bool, bits: 1})
	check(t, "%v", int8(-3), Value{kind: event.Int8, bits: 0xfffffffffffffffd})
	for _, d := range []time.Duration{0, 1, 1500 * time.Microsecond, -90 * time.Minute, math.MaxInt64, math.MinInt64} {
		for _, format := range []string{"%s", "%v", "%d", "%12s", "%-12v|", "%.3s", "%+d", "%08d"} {
			check(t, format, d, Value{kind: event.Duration, bits: uint64(d)})
		}
	}
	check(t, "%v", float32(0.1), Value{kind: event.Float32, bits: uint64(math.Float32bits(0.1))})
}

func check(t *testing.T, format string, x any, v Value) {
	t.Helper()
	verbs, err := event.ParseFormat(format)
	if err != nil {
		t.Fatalf("%q: %v", format, err)
	}
	if got, want := string(appendFormat(nil, format, verbs, []Value{v})), fmt.Sprintf(format, x); got != want {
		t.Errorf("%q of %v: %q, fmt prints %q", format, x, got, want)
	}
}

func TestTextAroundVerbs(t *testing.T) {
	verbs, err := event.ParseFormat("100%% of %d, %%d and %lx%%")
	if err != nil {
		t.Fatal(err)
	}
	got := string(appendFormat(nil, "100%% of %d, %%d and %lx%%", verbs, []Value{{kind: event.Int, bits: 3}, {kind: event.Int, bits: 255}}))
	if want := "100% of 3, %d and ff%"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzText(f *testing.F) {
	f.Add("path %-20s n %+08.3d", "x", int64(-1), 2.5)
	f.Add("%999999999s%%%#p", "", int64(0), 0.0)
	f.Fuzz(func(t *testing.T, format, s string, n int64, x float64) {
		verbs, err := event.ParseFormat(format)
		if err != nil {
			return
		}
		values := make([]Value, len(verbs))
		for i, v := range verbs {
			for _, w := range []Value{
				{kind: event.Int64, bits: uint64(n)},
				{kind: event.Float64, bits: math.Float64bits(x)},
				{kind: event.String, bits: uint64(len(s)), data: unsafe.Pointer(unsafe.StringData(s))},
				{kind: event.Bool, bits: uint64(n) & 1},
				{kind: event.Uint64, bits: uint64(n)},
				{kind: event.Uintptr, bits: uint64(n)},
			} {
				if v.Accepts(w.kind) {
					values[i] = w
				}
			}
		}
		if got := appendFormat(nil, format, verbs, values); len(got) > len(format)*(maxWidth+8*len(s)+400) {
			t.Errorf("%q printed %d bytes", format, len(got))
		}
	})
}
