package cli

import (
	"errors"
	"math"
	"testing"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/tracer"
)

func TestAppendValue(t *testing.T) {
	bits := func(n int64) tracer.Value { return tracer.Value{Bits: uint64(n)} }
	f64 := func(x float64) tracer.Value { return tracer.Value{Bits: math.Float64bits(x)} }
	f32 := func(x float32) tracer.Value { return tracer.Value{Bits: uint64(math.Float32bits(x))} }
	text := func(s string) tracer.Value { return tracer.Value{Text: []byte(s), Len: len(s)} }
	cut := func(s string, n int) tracer.Value { return tracer.Value{Text: []byte(s), Len: n} }
	tests := []struct {
		kind  field.Kind
		verb  string
		value tracer.Value
		want  string
	}{
		{field.Bool, "%t", bits(1), "true"},
		{field.Bool, "%v", bits(0), "false"},
		{field.Bool, "", bits(1), "true"},

		{field.Int, "%d", bits(-5), "-5"},
		{field.Int8, "", bits(-128), "-128"},
		{field.Int8, "%x", bits(-1), "0xff"},
		{field.Int16, "%x", bits(-2), "0xfffe"},
		{field.Int32, "%x", bits(-5), "0xfffffffb"},
		{field.Int32, "%08lx", bits(42), "0x2a"},
		{field.Int64, "%X", bits(-1), "0xFFFFFFFFFFFFFFFF"},
		{field.Int64, "%ld", bits(math.MinInt64), "-9223372036854775808"},
		{field.Int64, "%i", bits(7), "7"},
		{field.Int, "%v", bits(7), "7"},
		{field.Uint, "%u", bits(7), "7"},
		{field.Uint64, "%d", bits(-1), "18446744073709551615"},
		{field.Uint64, "%llx", bits(-1), "0xffffffffffffffff"},
		{field.Uint8, "%o", bits(8), "0o10"},
		{field.Int8, "%o", bits(-1), "0o377"},
		{field.Uint16, "%b", bits(5), "0b101"},
		{field.Uint32, "%d", bits(math.MaxUint32), "4294967295"},

		{field.Int32, "%c", bits('x'), "'x'"},
		{field.Int32, "%c", bits('€'), "'€'"},
		{field.Uint8, "%c", bits('\n'), `'\n'`},
		{field.Int32, "%c", bits(0x202e), `'\u202e'`},
		{field.Int32, "%c", bits(-1), "-1"},
		{field.Int32, "%c", bits(0xd800), "55296"},
		{field.Uint64, "%c", bits(0x110000), "1114112"},

		{field.Uintptr, "", bits(0x1000), "0x1000"},
		{field.Uintptr, "%v", bits(0x1000), "0x1000"},
		{field.Uintptr, "%p", bits(0), "0x0"},
		{field.Uintptr, "%d", bits(4096), "4096"},
		{field.Pointer, "", bits(0xc000012345), "0xc000012345"},
		{field.Pointer, "%p", bits(-1), "0xffffffffffffffff"},
		{field.Pointer, "%v", bits(0), "0x0"},
		{field.Pointer, "%x", bits(255), "0xff"},

		{field.Float64, "%f", f64(0.1), "0.1"},
		{field.Float64, "%.2f", f64(1e6), "1000000"},
		{field.Float64, "%g", f64(1e21), "1e+21"},
		{field.Float64, "%G", f64(1e21), "1E+21"},
		{field.Float64, "%e", f64(1.5), "1.5e+00"},
		{field.Float64, "%E", f64(1.5), "1.5E+00"},
		{field.Float64, "%v", f64(math.NaN()), "NaN"},
		{field.Float64, "", f64(math.Inf(-1)), "-Inf"},
		{field.Float32, "%f", f32(0.1), "0.1"},
		{field.Float32, "", f32(16777216), "1.6777216e+07"},

		{field.String, "%s", text("/x"), `"/x"`},
		{field.String, "%v", text(""), `""`},
		{field.String, "", text("a\"b\\"), `"a\"b\\"`},
		{field.String, "%q", text("\x1b]0;owned\a\u202e\u009b"), `"\x1b]0;owned\a\u202e\u009b"`},
		{field.String, "%s", text("\xff\xfe"), `"\xff\xfe"`},
		{field.String, "%s", cut("abc", 10), `"abc"…+7`},
		{field.String, "%s", cut("", 10), `""…+10`},
		{field.String, "%s", cut("ab\xe2\x82", 5), `"ab"…+3`},
		{field.String, "%s", cut("ab\x82", 5), `"ab\x82"…+2`},
		{field.String, "%s", cut("ab€", 9), `"ab€"…+4`},
		{field.String, "%x", text("hi"), "6869"},
		{field.String, "%X", text("\xab"), "AB"},
		{field.Bytes, "%x", text("\x00\xff"), "00ff"},
		{field.Bytes, "%x", text(""), `""`},
		{field.Bytes, "%x", cut("\x01", 3), "01…+2"},
		{field.Bytes, "%s", text("hi"), `"hi"`},
		{field.Bytes, "%v", text("hi"), `"hi"`},

		{field.String, "%s", tracer.Value{Err: errors.New("no memory there")}, "<unavailable>"},
		{field.Invalid, "", bits(1), "<unavailable>"},
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
	for kind := field.Bool; kind <= field.Pointer; kind++ {
		for _, c := range "diuxXobcpsqfFeEgGtv" {
			verb := "%" + string(c)
			if !(field.Verb{Text: verb, Char: byte(c)}).Accepts(kind) {
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
	f := &tracer.Field{Kind: field.Int, Unavailable: errors.New("in a register that is not saved")}
	if got := string(appendValue(nil, f, &tracer.Value{Bits: 1})); got != unavailable {
		t.Errorf("got %s", got)
	}
}
