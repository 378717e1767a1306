package clock

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// maxPairs bounds a Converter: at one pair a second, older than this is drawn as one line.
const maxPairs = 1024

// Converter converts ticks by lines between pairs. The zero value has none and converts to 0.
// It is not for concurrent use.
type Converter struct {
	pairs []Pair // both clocks ascend
	line  Line   // the one that was used last
}

// Line is where ticks from first up to last are converted alike: time is first's, and rate for each tick in units of
// 2^-64 nanoseconds above whole ones.
type Line struct {
	first, last uint64
	time        int64
	whole, rate uint64
}

// Add adds a pair, in any order. One that would make time run backwards is left out: it came of a
// clock that was read late.
func (c *Converter) Add(p Pair) {
	i, found := slices.BinarySearchFunc(c.pairs, p.Ticks, compareTicks)
	if found || i > 0 && c.pairs[i-1].Monotonic >= p.Monotonic || i < len(c.pairs) && c.pairs[i].Monotonic <= p.Monotonic {
		return
	}
	c.pairs = slices.Insert(c.pairs, i, p)
	c.line = Line{first: 1}      // none
	if len(c.pairs) > maxPairs { // every other one of the older half, never the first
		half := c.pairs[1 : maxPairs/2]
		kept := half[:0]
		for i := range half {
			if i%2 == 1 {
				kept = append(kept, half[i])
			}
		}
		c.pairs = append(c.pairs[:1+len(kept)], c.pairs[maxPairs/2:]...)
	}
}

func compareTicks(p Pair, ticks uint64) int { return cmp.Compare(p.Ticks, ticks) }

// Len returns how many pairs there are. Fewer than two give no rate.
func (c *Converter) Len() int { return len(c.pairs) }

// Monotonic returns the time of ticks in nanoseconds of CLOCK_MONOTONIC. Before the first
// and after the last pair the nearest line goes on.
func (c *Converter) Monotonic(ticks uint64) int64 {
	if t, ok := c.line.Monotonic(ticks); ok {
		return t
	}
	return c.search(ticks)
}

// Line returns the line on which Monotonic found its last ticks. Many ticks are converted faster by a copy of it.
func (c *Converter) Line() Line { return c.line }

// Monotonic is Converter.Monotonic for ticks on the line, and reports whether they are.
func (l *Line) Monotonic(ticks uint64) (t int64, ok bool) {
	if ticks < l.first || ticks >= l.last {
		return 0, false
	}
	part, _ := bits.Mul64(ticks-l.first, l.rate)
	return l.time + int64((ticks-l.first)*l.whole+part), true
}

// search is Monotonic for ticks that are not on the line that was used last.
func (c *Converter) search(ticks uint64) int64 {
	n := len(c.pairs)
	if n == 0 {
		return 0
	}
	if n == 1 {
		return c.pairs[0].Monotonic
	}
	i := n - 1 // events are read soon after they happen: the last line is the usual one
	if ticks < c.pairs[i-1].Ticks {
		i, _ = slices.BinarySearchFunc(c.pairs[:n-1], ticks, compareTicks)
		i = max(i, 1)
	}
	a, b := &c.pairs[i-1], &c.pairs[i]
	rise, run := uint64(b.Monotonic-a.Monotonic), b.Ticks-a.Ticks
	if ticks < a.Ticks {
		return a.Monotonic - int64(scale(a.Ticks-ticks, rise, run))
	}
	last := b.Ticks
	if i == n-1 {
		last = math.MaxUint64
	}
	c.line = Line{first: a.Ticks, last: last, time: a.Monotonic, whole: rise / run}
	c.line.rate, _ = bits.Div64(rise%run, 0, run)
	return a.Monotonic + int64(scale(ticks-a.Ticks, rise, run))
}

// Wall returns the offset from CLOCK_MONOTONIC to wall time at the newest pair.
func (c *Converter) Wall() int64 {
	if len(c.pairs) == 0 {
		return 0
	}
	p := &c.pairs[len(c.pairs)-1]
	return p.Wall - p.Monotonic
}

// scale returns x * rise / run, as large as fits.
func scale(x, rise, run uint64) uint64 {
	hi, lo := bits.Mul64(x, rise)
	if hi >= run {
		return 1<<62 - 1
	}
	q, _ := bits.Div64(hi, lo, run)
	return min(q, 1<<62-1)
}
