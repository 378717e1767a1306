package event

import (
	"errors"
	"math"
	"testing"
)

func TestAppendText(t *testing.T) {
	bits := func(n int64) func(Kind) Value { return func(k Kind) Value { return Number(k, uint64(n)) } }
	f64 := func(x float64) func(Kind) Value { return bits(int64(math.Float64bits(x))) }
	f32 := func(x float32) func(Kind) Value { return bits(int64(math.Float32bits(x))) }
	cut := func(s string, n int) func(Kind) Value { return func(k Kind) Value { return Text(k, []byte(s), n) } }
	text := func(s string) func(Kind) Value { return cut(s, len(s)) }
	missing := func(Kind) Value { return Missing(errors.New("no memory there")) }
	tests := []struct {
		kind  Kind
		verb  string
		value func(Kind) Value
		want  string
	}{
		{Bool, "%t", bits(1), "true"},
		{Bool, "%v", bits(0), "false"},
		{Bool, "", bits(1), "true"},

		{Int, "%d", bits(-5), "-5"},
		{Int8, "", bits(-128), "-128"},
		{Int8, "%x", bits(-1), "0xff"},
		{Int16, "%x", bits(-2), "0xfffe"},
		{Int32, "%x", bits(-5), "0xfffffffb"},
		{Int32, "%08lx", bits(42), "0x2a"},
		{Int64, "%X", bits(-1), "0xFFFFFFFFFFFFFFFF"},
		{Int64, "%ld", bits(math.MinInt64), "-9223372036854775808"},
		{Int64, "%i", bits(7), "7"},
		{Int, "%v", bits(7), "7"},
		{Uint, "%u", bits(7), "7"},
		{Uint64, "%d", bits(-1), "18446744073709551615"},
		{Uint64, "%llx", bits(-1), "0xffffffffffffffff"},
		{Uint8, "%o", bits(8), "0o10"},
		{Int8, "%o", bits(-1), "0o377"},
		{Uint16, "%b", bits(5), "0b101"},
		{Uint32, "%d", bits(math.MaxUint32), "4294967295"},

		{Int32, "%c", bits('x'), "'x'"},
		{Int32, "%c", bits('€'), "'€'"},
		{Uint8, "%c", bits('\n'), `'\n'`},
		{Int32, "%c", bits(0x202e), `'\u202e'`},
		{Int32, "%c", bits(-1), "-1"},
		{Int32, "%c", bits(0xd800), "55296"},
		{Uint64, "%c", bits(0x110000), "1114112"},

		{Uintptr, "", bits(0x1000), "0x1000"},
		{Uintptr, "%v", bits(0x1000), "0x1000"},
		{Uintptr, "%p", bits(0), "0x0"},
		{Uintptr, "%d", bits(4096), "4096"},
		{Pointer, "", bits(0xc000012345), "0xc000012345"},
		{Pointer, "%p", bits(-1), "0xffffffffffffffff"},
		{Pointer, "%v", bits(0), "0x0"},
		{Pointer, "%x", bits(255), "0xff"},

		{Float64, "%f", f64(0.1), "0.1"},
		{Float64, "%.2f", f64(1e6), "1000000"},
		{Float64, "%g", f64(1e21), "1e+21"},
		{Float64, "%G", f64(1e21), "1E+21"},
		{Float64, "%e", f64(1.5), "1.5e+00"},
		{Float64, "%E", f64(1.5), "1.5E+00"},
		{Float64, "%v", f64(math.NaN()), "NaN"},
		{Float64, "", f64(math.Inf(-1)), "-Inf"},
		{Float32, "%f", f32(0.1), "0.1"},
		{Float32, "", f32(16777216), "1.6777216e+07"},

		{String, "%s", text("/x"), `"/x"`},
		{String, "%v", text(""), `""`},
		{String, "", text("a\"b\\"), `"a\"b\\"`},
		{String, "%q", text("\x1b]0;owned\a\u202e\u009b"), `"\x1b]0;owned\a\u202e\u009b"`},
		{String, "%s", text("\xff\xfe"), `"\xff\xfe"`},
		{String, "%s", cut("abc", 10), `"abc"…+7`},
		{String, "%s", cut("", 10), `""…+10`},
		{String, "%s", cut("ab\xe2\x82", 5), `"ab"…+3`},
		{String, "%s", cut("ab\x82", 5), `"ab\x82"…+2`},
		{String, "%s", cut("ab€", 9), `"ab€"…+4`},
		{String, "%x", text("hi"), "6869"},
		{String, "%X", text("\xab"), "AB"},
		{Bytes, "%x", text("\x00\xff"), "00ff"},
		{Bytes, "%x", text(""), `""`},
		{Bytes, "%x", cut("\x01", 3), "01…+2"},
		{Bytes, "%s", text("hi"), `"hi"`},
		{Bytes, "%v", text("hi"), `"hi"`},

		{String, "%s", missing, "<unavailable>"},
		{Invalid, "", bits(1), "<unavailable>"},

		{Duration, "", bits(3_520_000), "3.52ms"},
		{Duration, "%s", bits(-1), "-1ns"},
		{Duration, "%d", bits(3_520_000), "3520000"},
		{Duration, "%x", bits(255), "0xff"},
	}
	for _, tt := range tests {
		f, v := &Field{Kind: tt.kind, Verb: tt.verb}, tt.value(tt.kind)
		if got := string(f.AppendText(nil, &v)); got != tt.want {
			t.Errorf("%v %q %#x %q: %s, want %s", tt.kind, tt.verb, v.Bits(), v.Bytes(), got, tt.want)
		}
	}
}

// Every verb that a format may have for a kind prints something of it.
func TestAppendTextEveryVerb(t *testing.T) {
	for kind := Bool; kind < numKinds; kind++ {
		for _, c := range "diuxXobcpsqfFeEgGtv" {
			verb := "%" + string(c)
			if !(Verb{Text: verb, Char: byte(c)}).Accepts(kind) {
				continue
			}
			f := &Field{Kind: kind, Verb: verb}
			v := Number(kind, 1)
			if kind.HasLength() {
				v = Text(kind, []byte("a"), 1)
			}
			got := string(f.AppendText(nil, &v))
			if got == "" || got == unavailable {
				t.Errorf("%v %s: %q", kind, verb, got)
			}
		}
	}
}

func TestAppendTextUnavailable(t *testing.T) {
	f, v := &Field{Kind: Int, Unavailable: "in a register that is not saved"}, Number(Int, 1)
	if got := string(f.AppendText(nil, &v)); got != unavailable {
		t.Errorf("got %s", got)
	}
}
