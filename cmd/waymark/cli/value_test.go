package cli

import (
	"errors"
	"math"
	"testing"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

func TestAppendValue(t *testing.T) {
	bits := func(n int64) tracer.Value { return tracer.Value{Bits: uint64(n)} }
	f64 := func(x float64) tracer.Value { return tracer.Value{Bits: math.Float64bits(x)} }
	f32 := func(x float32) tracer.Value { return tracer.Value{Bits: uint64(math.Float32bits(x))} }
	text := func(s string) tracer.Value { return tracer.Value{Text: []byte(s), Len: len(s)} }
	cut := func(s string, n int) tracer.Value { return tracer.Value{Text: []byte(s), Len: n} }
	tests := []struct {
		kind  event.Kind
		verb  string
		value tracer.Value
		want  string
	}{
		{event.Bool, "%t", bits(1), "true"},
		{event.Bool, "%v", bits(0), "false"},
		{event.Bool, "", bits(1), "true"},

		{event.Int, "%d", bits(-5), "-5"},
		{event.Int8, "", bits(-128), "-128"},
		{event.Int8, "%x", bits(-1), "0xff"},
		{event.Int16, "%x", bits(-2), "0xfffe"},
		{event.Int32, "%x", bits(-5), "0xfffffffb"},
		{event.Int32, "%08lx", bits(42), "0x2a"},
		{event.Int64, "%X", bits(-1), "0xFFFFFFFFFFFFFFFF"},
		{event.Int64, "%ld", bits(math.MinInt64), "-9223372036854775808"},
		{event.Int64, "%i", bits(7), "7"},
		{event.Int, "%v", bits(7), "7"},
		{event.Uint, "%u", bits(7), "7"},
		{event.Uint64, "%d", bits(-1), "18446744073709551615"},
		{event.Uint64, "%llx", bits(-1), "0xffffffffffffffff"},
		{event.Uint8, "%o", bits(8), "0o10"},
		{event.Int8, "%o", bits(-1), "0o377"},
		{event.Uint16, "%b", bits(5), "0b101"},
		{event.Uint32, "%d", bits(math.MaxUint32), "4294967295"},

		{event.Int32, "%c", bits('x'), "'x'"},
		{event.Int32, "%c", bits('€'), "'€'"},
		{event.Uint8, "%c", bits('\n'), `'\n'`},
		{event.Int32, "%c", bits(0x202e), `'\u202e'`},
		{event.Int32, "%c", bits(-1), "-1"},
		{event.Int32, "%c", bits(0xd800), "55296"},
		{event.Uint64, "%c", bits(0x110000), "1114112"},

		{event.Uintptr, "", bits(0x1000), "0x1000"},
		{event.Uintptr, "%v", bits(0x1000), "0x1000"},
		{event.Uintptr, "%p", bits(0), "0x0"},
		{event.Uintptr, "%d", bits(4096), "4096"},
		{event.Pointer, "", bits(0xc000012345), "0xc000012345"},
		{event.Pointer, "%p", bits(-1), "0xffffffffffffffff"},
		{event.Pointer, "%v", bits(0), "0x0"},
		{event.Pointer, "%x", bits(255), "0xff"},

		{event.Float64, "%f", f64(0.1), "0.1"},
		{event.Float64, "%.2f", f64(1e6), "1000000"},
		{event.Float64, "%g", f64(1e21), "1e+21"},
		{event.Float64, "%G", f64(1e21), "1E+21"},
		{event.Float64, "%e", f64(1.5), "1.5e+00"},
		{event.Float64, "%E", f64(1.5), "1.5E+00"},
		{event.Float64, "%v", f64(math.NaN()), "NaN"},
		{event.Float64, "", f64(math.Inf(-1)), "-Inf"},
		{event.Float32, "%f", f32(0.1), "0.1"},
		{event.Float32, "", f32(16777216), "1.6777216e+07"},

		{event.String, "%s", text("/x"), `"/x"`},
		{event.String, "%v", text(""), `""`},
		{event.String, "", text("a\"b\\"), `"a\"b\\"`},
		{event.String, "%q", text("\x1b]0;owned\a\u202e\u009b"), `"\x1b]0;owned\a\u202e\u009b"`},
		{event.String, "%s", text("\xff\xfe"), `"\xff\xfe"`},
		{event.String, "%s", cut("abc", 10), `"abc"…+7`},
		{event.String, "%s", cut("", 10), `""…+10`},
		{event.String, "%s", cut("ab\xe2\x82", 5), `"ab"…+3`},
		{event.String, "%s", cut("ab\x82", 5), `"ab\x82"…+2`},
		{event.String, "%s", cut("ab€", 9), `"ab€"…+4`},
		{event.String, "%x", text("hi"), "6869"},
		{event.String, "%X", text("\xab"), "AB"},
		{event.Bytes, "%x", text("\x00\xff"), "00ff"},
		{event.Bytes, "%x", text(""), `""`},
		{event.Bytes, "%x", cut("\x01", 3), "01…+2"},
		{event.Bytes, "%s", text("hi"), `"hi"`},
		{event.Bytes, "%v", text("hi"), `"hi"`},

		{event.String, "%s", tracer.Value{Err: errors.New("no memory there")}, "<unavailable>"},
		{event.Invalid, "", bits(1), "<unavailable>"},
	}
	for _, tt := range tests {
		f := &tracer.Field{Kind: tt.kind, Verb: tt.verb}
		if got := string(appendValue(nil, f, &tt.value)); got != tt.want {
			t.Errorf("%v %q %#x %q: %s, want %s", tt.kind, tt.verb, tt.value.Bits, tt.value.Text, got, tt.want)
		}
	}
}

// Every verb that a format may have for a kind prints something of it.
func TestAppendValueEveryVerb(t *testing.T) {
	for kind := event.Bool; kind <= event.Pointer; kind++ {
		for _, c := range "diuxXobcpsqfFeEgGtv" {
			verb := "%" + string(c)
			if !(event.Verb{Text: verb, Char: byte(c)}).Accepts(kind) {
				continue
			}
			f := &tracer.Field{Kind: kind, Verb: verb}
			got := string(appendValue(nil, f, &tracer.Value{Bits: 1, Text: []byte("a"), Len: 1}))
			if got == "" || got == unavailable {
				t.Errorf("%v %s: %q", kind, verb, got)
			}
		}
	}
}

func TestAppendValueUnavailable(t *testing.T) {
	f := &tracer.Field{Kind: event.Int, Unavailable: errors.New("in a register that is not saved")}
	if got := string(appendValue(nil, f, &tracer.Value{Bits: 1})); got != unavailable {
		t.Errorf("got %s", got)
	}
}
