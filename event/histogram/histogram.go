// Package histogram counts durations: in programs that count their own, and in tracers.
package histogram

import (
	"math"
	"slices"
	"time"
)

// Histogram counts durations in log-linear buckets: one for each nanosecond below 64 ns, and 32 for
// each power of two above. Its sum and maximum are exact, all other durations are within 1.6 %. The
// zero value is empty and allocates 15 KiB at the first duration. A Histogram must not be used by
// several goroutines at once.
type Histogram struct {
	counts []uint64 // by Index, nil if empty
	n      uint64
	sum    uint64
	max    uint64
}

// Bucket counts the durations that were at least Low and below High.
type Bucket struct {
	Low, High time.Duration
	Count     uint64
}

// New returns a histogram with an exact sum and maximum. It retains counts, Size counts by Index.
func New(counts []uint64, sum, highest uint64) Histogram {
	h := Histogram{counts: counts, sum: sum, max: highest}
	for _, n := range counts {
		h.n += n
	}
	return h
}

// Add counts a duration, a negative one as 0.
func (h *Histogram) Add(d time.Duration) {
	if h.counts == nil {
		h.counts = make([]uint64, Size)
	}
	ns := uint64(max(d, 0))
	h.counts[Index(ns)]++
	h.n++
	h.sum += ns
	h.max = max(h.max, ns)
}

// Clone returns an independent copy of h.
func (h *Histogram) Clone() Histogram {
	c := *h
	c.counts = slices.Clone(h.counts)
	return c
}

// Merge adds the durations of another histogram.
func (h *Histogram) Merge(other *Histogram) {
	if other.n == 0 {
		return
	}
	if h.counts == nil {
		h.counts = make([]uint64, Size)
	}
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.n += other.n
	h.sum += other.sum
	h.max = max(h.max, other.max)
}

// Since returns the durations added to h since before, an earlier copy of it. Their maximum is
// within 1.6 %.
func (h *Histogram) Since(before *Histogram) *Histogram {
	counts := make([]uint64, len(h.counts))
	top := -1
	for i := range counts {
		counts[i] = h.counts[i]
		if i < len(before.counts) {
			counts[i] -= before.counts[i]
		}
		if counts[i] > 0 {
			top = i
		}
	}
	d := New(counts, h.sum-before.sum, 0)
	if top >= 0 {
		d.max = min(middle(top), h.max)
	}
	return &d
}

// Count returns the number of durations.
func (h *Histogram) Count() uint64 { return h.n }

// Sum returns the sum of all durations.
func (h *Histogram) Sum() time.Duration { return duration(h.sum) }

// Max returns the longest duration, or 0 if there is none.
func (h *Histogram) Max() time.Duration { return duration(h.max) }

// Mean returns the average, or 0 if there are no durations.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return duration(h.sum / h.n)
}

// Percentile returns the nearest-rank percentile within 1.6 %: the shortest duration that p percent
// of all durations do not exceed. It returns 0 if there are none.
func (h *Histogram) Percentile(p float64) time.Duration {
	rank := uint64(math.Ceil(float64(h.n) * min(max(p, 0), 100) / 100))
	rank = min(max(rank, 1), h.n)
	if rank == h.n {
		return duration(h.max)
	}
	var seen uint64
	for i, n := range h.counts {
		if seen += n; n > 0 && seen >= rank {
			return duration(min(middle(i), h.max))
		}
	}
	return 0
}

// Buckets returns the buckets with durations, the shortest first.
func (h *Histogram) Buckets() []Bucket {
	var all []Bucket
	for i, n := range h.counts {
		if n > 0 {
			low, width := Range(i)
			all = append(all, Bucket{duration(low), duration(low + width), n})
		}
	}
	return all
}

// middle returns the number that represents a bucket.
func middle(i int) uint64 {
	low, width := Range(i)
	return low + (width-1)/2
}

// duration converts nanoseconds to a duration, at most 292 years.
func duration(ns uint64) time.Duration { return time.Duration(min(ns, math.MaxInt64)) }
