package clock

import (
	"math"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// Times between two readings of CLOCK_MONOTONIC are converted to something between them.
func TestConvert(t *testing.T) {
	k := Best()
	t.Log("the clock is", k)
	var c Converter
	add := func() {
		p, ok := Read(k)
		if !ok {
			t.Fatal("no clock")
		}
		c.Add(p)
	}
	type sample struct {
		before, after int64
		ticks         uint64
	}
	var samples []sample
	for range 50 {
		add()
		for range 100 {
			before := nanotime()
			ticks, _ := Now(k)
			samples = append(samples, sample{before, nanotime(), ticks})
		}
		time.Sleep(time.Millisecond)
	}
	add()
	wrong := 0
	const error = 2000 // nanoseconds: a pair may have been read that late on a busy machine
	for _, s := range samples {
		if got := c.Monotonic(s.ticks); got < s.before-error || got > s.after+error {
			wrong++
		}
	}
	if wrong > len(samples)/20 {
		t.Errorf("%d of %d samples were converted to times at which they were not read", wrong, len(samples))
	}
	if got, want := c.Wall()+nanotime(), time.Now().UnixNano(); math.Abs(float64(got-want)) > 1e9 {
		t.Errorf("wall time %d, want %d", got, want)
	}
}

// A conversion by the cached line equals a fresh computation, and follows the pairs.
func TestLines(t *testing.T) {
	var c Converter
	pairs := []Pair{{Ticks: 1000, Monotonic: 500}, {Ticks: 3000, Monotonic: 1500}, {Ticks: 1 << 50, Monotonic: 1 << 48}, {Ticks: 1<<50 + 9, Monotonic: 1<<48 + 90}}
	for _, i := range peer.Random(t).Perm(len(pairs)) {
		c.Add(pairs[i])
	}
	c.Add(Pair{Ticks: 2000, Monotonic: 400}) // backwards: left out
	if c.Len() != len(pairs) {
		t.Fatalf("%d pairs", c.Len())
	}
	for _, tt := range []struct {
		ticks uint64
		want  int64
	}{{1000, 500}, {2000, 1000}, {2002, 1001}, {0, 0}, {3000, 1500}, {1 << 50, 1 << 48}, {1<<50 + 3, 1<<48 + 30}, {1<<50 + 100, 1<<48 + 1000}, {2000, 1000}} {
		for range 2 {
			if got := c.Monotonic(tt.ticks); got < tt.want-1 || got > tt.want {
				t.Errorf("%d ticks are %d ns, want %d", tt.ticks, got, tt.want)
			}
		}
	}
}

// Pairs of a hostile file: any of them, in any order.
func FuzzConverter(f *testing.F) {
	f.Add(uint64(1), int64(2), uint64(3), int64(4), uint64(5))
	f.Add(uint64(0), int64(math.MinInt64), uint64(math.MaxUint64), int64(math.MaxInt64), uint64(1))
	f.Fuzz(func(t *testing.T, a uint64, b int64, c uint64, d int64, ticks uint64) {
		var conv Converter
		for _, p := range []Pair{{a, b, 0}, {c, d, 0}, {a ^ c, b ^ d, 1}, {a + c, b - d, 2}} {
			conv.Add(p)
			conv.Monotonic(ticks)
			conv.Monotonic(ticks + 1)
		}
		conv.Wall()
	})
}

// Many pairs are thinned, the first and the newest kept.
func TestThin(t *testing.T) {
	var c Converter
	for i := range uint64(10 * maxPairs) {
		c.Add(Pair{Ticks: i * 10, Monotonic: int64(i)})
	}
	if c.Len() > maxPairs || c.pairs[0].Ticks != 0 || c.pairs[c.Len()-1].Monotonic != 10*maxPairs-1 {
		t.Errorf("%d pairs, from %+v to %+v", c.Len(), c.pairs[0], c.pairs[c.Len()-1])
	}
}

func TestStamp(t *testing.T) {
	g := func() uintptr { return 7 }
	for _, k := range []Kind{Monotonic, Best()} {
		stamp := StampOf(k, g)
		before, _ := Now(k)
		ticks, at := stamp()
		after, _ := Now(k)
		if ticks < before || ticks > after || at == 0 {
			t.Errorf("%s: stamped %d, %x, between %d and %d", k, ticks, at, before, after)
		}
	}
}
