package ctf

import (
	"math"
	"math/big"
	"testing"
)

// TestNanoseconds compares times with exact arithmetic: they are rounded down once, however the offset divides.
func TestNanoseconds(t *testing.T) {
	const most = math.MaxInt64 / second
	for _, c := range []Clock{
		{Freq: 3, Offset: 1}, {Freq: 3, Offset: 2, OffsetSeconds: -7}, {Freq: 1000, Offset: 999, OffsetSeconds: 1_700_000_000},
		{Freq: 32768, Offset: 32767}, {Freq: 2_999_999_999, Offset: 2_999_999_998, OffsetSeconds: 1_700_000_000}, {Freq: 10, Offset: 10},
		{Freq: second, Offset: second - 1, OffsetSeconds: most}, {Freq: second, OffsetSeconds: -most},
		{Freq: math.MaxUint64, Offset: math.MaxUint64 - 1}, {Freq: 1, OffsetSeconds: most - 5}, {Freq: 7, OffsetSeconds: most + 1},
	} {
		for _, ticks := range []uint64{0, 1, 2, 3, 100, 32767, 2_999_999_999, 1<<62 + 12345, math.MaxInt64, math.MaxUint64} {
			want := new(big.Int).Add(new(big.Int).SetUint64(ticks), new(big.Int).SetUint64(c.Offset))
			want.Mul(want, big.NewInt(second)).Div(want, new(big.Int).SetUint64(c.Freq))
			want.Add(want, new(big.Int).Mul(big.NewInt(c.OffsetSeconds), big.NewInt(second)))
			valid := want.IsInt64() && c.Offset < c.Freq
			got, ok := c.Nanoseconds(ticks)
			if ok != valid || ok && got != want.Int64() {
				t.Errorf("%+v, %d ticks: %d %t, want %d %t", c, ticks, got, ok, want, valid)
			}
		}
	}
}
