package event

import "testing"

func TestExtend(t *testing.T) {
	for _, test := range []struct {
		bits   uint64
		size   int
		signed bool
		want   uint64
	}{
		{0xffff_ff80, 1, true, 1<<64 - 128},
		{0xffff_ff80, 1, false, 0x80},
		{0x1_8000_0000, 4, true, 0xffff_ffff_8000_0000},
		{0x1_8000_0000, 4, false, 0x8000_0000},
		{0x8000, 2, true, 0xffff_ffff_ffff_8000},
		{1 << 63, 8, true, 1 << 63},
		{7, 0, true, 7},
	} {
		kind := Uint64
		if test.signed {
			kind = Int64
		}
		if got := kind.Extend(test.bits, test.size); got != test.want {
			t.Errorf("%#x as %d bytes, signed %t: %#x, want %#x", test.bits, test.size, test.signed, got, test.want)
		}
	}
}
