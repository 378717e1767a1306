package filter

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
)

func bind(text string) (*Filter, error) {
	e, err := Parse(text)
	if err != nil {
		return nil, err
	}
	return e.Bind(func(name string) (event.Kind, error) {
		return map[string]event.Kind{
			"took": event.Duration, "limit": event.Duration, "n": event.Int64, "u": event.Uint32, "f": event.Float64, "s": event.String, "b": event.Bool,
		}[name], nil
	})
}

// A duration compares in nanoseconds with others, written or not, and with plain numbers.
func TestDurations(t *testing.T) {
	for _, tt := range []struct {
		text  string
		holds bool // where took is 3.5ms, limit 2s, n 3500000 and u 7
	}{
		{"took > 3ms", true},
		{"took > 3.5ms", false},
		{"took >= 3.5ms", true},
		{"3ms < took", true},
		{"took == 3500us", true},
		{"took == 3500µs && took == 3500μs", true},
		{"took == 3500000ns", true},
		{"took == 3500000", true},
		{"took == n", true},
		{"took < 2h45m && took > -2h45m", true},
		{"-1ns > took", false},
		{"took < limit", true},
		{"limit == 2s", true},
		{"limit - took > 1.9965s", false},
		{"limit - took >= 1.9965s", true},
		{"took + 1ms == 4.5ms", true},
		{"took + n == 7ms", true},
		{"took - 3500000 == 0s", true},
		{"took - limit < 0", true},
		{"took & 1 == 0", true},
		{"3ms + 1 == 3000001", true},
		{"n > 3ms + 1ns", true},
		{"nothing > 3ms || u == 7", true},
		{"0s == 0", true},
	} {
		f, err := bind(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		value := func(i int) (Value, bool) {
			bits := map[string]uint64{"took": uint64(3500 * time.Microsecond), "limit": uint64(2 * time.Second), "n": 3500000, "u": 7}
			return Value{Bits: bits[f.Vars[i].Name]}, true
		}
		if got := f.Eval(value); got != tt.holds {
			t.Errorf("%s: Eval is %t", tt.text, got)
		}
		if got := run(f, f.Tests(), value); got != tt.holds {
			t.Errorf("%s: its tests are %t", tt.text, got)
		}
	}
}

func TestDurationsRefused(t *testing.T) {
	for _, tt := range []struct {
		text   string
		column int
		reason string
		hint   string
	}{
		{"n > 3ms", 5, "n, a value of kind int64, is no duration", "3ms is 3000000 nanoseconds"},
		{"-3us <= u", 1, "u, a value of kind uint32, is no duration", "-3us is -3000 nanoseconds"},
		{"took > 1s && n + 3ms > 7", 18, "is no duration", "3000000 nanoseconds"},
		{"n - u > 3ms", 9, "a number is no duration", "in its own unit"},
		{"f > 3ms", 5, "is no duration", "in its own unit"},
		{"s == 3ms", 3, "a text is compared", "in quotes"},
		{"b == 3ms", 6, "is no duration", ""},
		{"took > 1.5", 8, "a whole number of nanoseconds", "1.5ms"},
		{`took > "3ms"`, 6, "does not compare texts", ""},
		{`took == "3ms"`, 1, "took is a duration, not a text", "without quotes"},
		{"took", 1, "is no condition", ""},
		{"took > 3m5", 8, "is no number", ""},
		{"took > 3 ms", 10, "an operator", ""},
		{"took > 99999999h", 8, "is no number of 64 bits", ""},
		{"took > 3µ", 9, "has no meaning", ""},
	} {
		_, err := bind(tt.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if e.Column != tt.column || !strings.Contains(e.Reason, tt.reason) || !strings.Contains(e.Hint, tt.hint) {
			t.Errorf("%s: column %d: %s; hint: %s", tt.text, e.Column, e.Reason, e.Hint)
		}
	}
}
