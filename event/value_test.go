package event

import (
	"errors"
	"math"
	"testing"
	"time"
)

// Each accessor returns the value for the kinds that it is for, and zero for all others.
func TestValue(t *testing.T) {
	minus := uint64(math.MaxUint64) // -1
	for _, c := range []struct {
		value    Value
		int      int64
		uint     uint64
		float    float64
		bool     bool
		text     string
		duration time.Duration
	}{
		{value: Value{}},
		{value: Number(Int8, minus), int: -1, uint: minus, duration: -1},
		{value: Number(Uint64, minus), int: -1, uint: minus, duration: -1},
		{value: Number(Uintptr, 16), int: 16, uint: 16, duration: 16},
		{value: Number(Duration, 3_520_000), int: 3_520_000, uint: 3_520_000, duration: 3520 * time.Microsecond},
		{value: Number(Bool, 1), bool: true},
		{value: Number(Pointer, 0x10), uint: 0x10},
		{value: Number(Float32, uint64(math.Float32bits(1.5))), float: 1.5},
		{value: Number(Float64, math.Float64bits(-2.25)), float: -2.25},
		{value: Text(String, []byte("text"), 4), text: "text"},
		{value: Text(Bytes, []byte("a\x00b"), 3), text: "a\x00b"},
		{value: Text(String, []byte("caf\xc3"), 10), text: "caf"}, // cut within a character
		{value: Text(String, []byte("caf\xc3"), 4), text: "caf\xc3"},
		{value: Text(String, []byte("far"), -1), text: "far"},
		{value: Missing(errors.New("gone"))},
	} {
		v := c.value
		if v.Int() != c.int || v.Uint() != c.uint || v.Float() != c.float || v.Bool() != c.bool || v.Text() != c.text || v.Duration() != c.duration {
			t.Errorf("%v %#x %q: %d, %#x, %v, %v, %q, %v", v.Kind(), v.Bits(), v.Bytes(), v.Int(), v.Uint(), v.Float(), v.Bool(), v.Text(), v.Duration())
		}
	}
	cut, unknown, whole := Text(String, []byte("a"), 2), Text(String, []byte("a"), -1), Text(String, []byte("a"), 1)
	if !cut.Cut() || !unknown.Cut() || whole.Cut() {
		t.Errorf("cut: %v, %v and %v", cut.Cut(), unknown.Cut(), whole.Cut())
	}
	if missing := Missing(OptimizedOut); missing.Kind() != Invalid || !errors.Is(missing.Err(), OptimizedOut) {
		t.Errorf("a missing value is %v, %v", missing.Kind(), missing.Err())
	}
}

// A reason is each shorter reason that it elaborates, and no other.
func TestReason(t *testing.T) {
	for text, want := range map[string]bool{
		"optimized out": true, "optimized out: no location": true, "optimized out here": true,
		"optimized outside": false, "": false, "not optimized out": false,
	} {
		if errors.Is(Reason(text), OptimizedOut) != want {
			t.Errorf("%q is optimized out: %v", text, !want)
		}
	}
	if Reason("").Err() != nil || ReasonOf(nil) != "" {
		t.Error("no reason is an error")
	}
}
