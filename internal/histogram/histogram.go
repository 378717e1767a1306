// Package histogram counts durations: in programs that count their own, and in tracers.
package histogram

import (
	"math"
	"slices"
	"time"
)

// Histogram counts durations in log-linear buckets: below 64 ns each nanosecond has its own,
// above each power of two is divided into 32. It knows the sum and the maximum exactly and every
// other duration within 1.6 %. The zero value is empty and takes 15 KiB with the first duration.
// Its methods are for one goroutine at a time.
type Histogram struct {
	counts []uint64 // by Index, nil when there are none
	n      uint64
	sum    uint64
	max    uint64
}

// Bucket counts the durations that were at least Low and below High.
type Bucket struct {
	Low, High time.Duration
	Count     uint64
}

// New returns a histogram of Size counts by Index, which it keeps, their exact sum and maximum.
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

// Clone returns a copy that Add and Merge of h do not change.
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

// Since returns the durations that h has and an earlier state of it had not. Their maximum is known
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

// Count returns how many durations there are.
func (h *Histogram) Count() uint64 { return h.n }

// Max returns the longest duration, 0 when there is none.
func (h *Histogram) Max() time.Duration { return duration(h.max) }

// Mean returns the average, 0 when there is none.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return duration(h.sum / h.n)
}

// Percentile returns the shortest duration that p percent of all are not longer than: the
// nearest-rank percentile, within 1.6 %. It is 0 when there is none.
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

// Buckets returns the buckets that have durations, the shortest first.
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

// middle returns the number that stands for all numbers of a bucket.
func middle(i int) uint64 {
	low, width := Range(i)
	return low + (width-1)/2
}

// duration returns a number of nanoseconds as a duration, at most 292 years.
func duration(ns uint64) time.Duration { return time.Duration(min(ns, math.MaxInt64)) }
