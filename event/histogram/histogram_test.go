package histogram

import (
	"math"
	"slices"
	"testing"
	"time"
)

// bucketError is the error that Histogram promises, a 64th.
const bucketError = 1.0 / 64

// rank returns the nearest-rank percentile of durations, which it sorts.
func rank(all []time.Duration, p float64) time.Duration {
	slices.Sort(all)
	return all[max(int(math.Ceil(float64(len(all))*p/100)), 1)-1]
}

func TestBuckets(t *testing.T) {
	next := uint64(0)
	for i := range Size {
		low, width := Range(i)
		if low != next || Index(low) != i || Index(low+width-1) != i {
			t.Fatalf("bucket %d begins at %d with %d numbers, after %d", i, low, width, next)
		}
		if width > 1 && low/width < 32 {
			t.Errorf("bucket %d at %d is %d wide", i, low, width)
		}
		next = low + width
	}
	if next != 0 { // 1<<64
		t.Errorf("the last bucket ends at %d", next)
	}
}

func TestHistogram(t *testing.T) {
	var h, before Histogram
	if h.Count() != 0 || h.Max() != 0 || h.Mean() != 0 || h.Percentile(50) != 0 || h.Buckets() != nil {
		t.Error("an empty histogram is not empty")
	}
	var all []time.Duration
	for n := time.Duration(1); n > 0 && n < 1<<62; n += n/7 + 1 {
		all = append(all, n)
		h.Add(n)
		if len(all) == 50 {
			before = h.Clone()
		}
	}
	check := func(h *Histogram, all []time.Duration) {
		t.Helper()
		for p := 0.0; p <= 100; p += 0.25 {
			got, want := float64(h.Percentile(p)), float64(rank(all, p))
			if math.Abs(got-want) > want*bucketError {
				t.Errorf("p%g is %v, want %v", p, h.Percentile(p), rank(all, p))
			}
		}
		n := uint64(0)
		for _, b := range h.Buckets() {
			n += b.Count
			if b.Low >= b.High {
				t.Errorf("bucket from %v to %v", b.Low, b.High)
			}
		}
		if n != uint64(len(all)) || h.Count() != n {
			t.Errorf("%d durations in buckets, %d in all, want %d", n, h.Count(), len(all))
		}
	}
	check(&h, all)
	if h.Max() != all[len(all)-1] {
		t.Errorf("the maximum is %v", h.Max())
	}
	check(h.Since(&before), all[50:])
	if d := h.Since(&h); d.Count() != 0 || d.Max() != 0 {
		t.Errorf("nothing since now: %d up to %v", d.Count(), d.Max())
	}
	h.Add(-1)
	h.Add(math.MaxInt64)
	if h.Percentile(0) != 0 || h.Max() != math.MaxInt64 {
		t.Errorf("extremes are %v and %v", h.Percentile(0), h.Max())
	}
}

// The largest duration is known exactly, also as a percentile.
func TestPercentileOfMaximum(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{1000, 1_000_001, 4_000_000_000} {
		h.Add(d)
		if h.Percentile(100) != d || h.Percentile(99) != d || h.Max() != d {
			t.Errorf("got %v, %v and %v, want %v", h.Percentile(100), h.Percentile(99), h.Max(), d)
		}
	}
}

// Merging is adding the same durations.
func TestMerge(t *testing.T) {
	var a, b, empty, all Histogram
	for i := range time.Duration(10_000) {
		d := i * i * i
		all.Add(d)
		if i%3 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	var sum Histogram
	for _, h := range []*Histogram{&empty, &a, &b, &empty} {
		sum.Merge(h)
	}
	if sum.Count() != all.Count() || sum.Mean() != all.Mean() || sum.Max() != all.Max() || !slices.Equal(sum.Buckets(), all.Buckets()) {
		t.Errorf("%d durations, mean %v, up to %v; want %d, %v, %v", sum.Count(), sum.Mean(), sum.Max(), all.Count(), all.Mean(), all.Max())
	}
	for p := 0.0; p <= 100; p += 0.5 {
		if sum.Percentile(p) != all.Percentile(p) {
			t.Errorf("p%g is %v, want %v", p, sum.Percentile(p), all.Percentile(p))
		}
	}
	if a.Count()+b.Count() != all.Count() || empty.Count() != 0 || empty.Buckets() != nil {
		t.Errorf("merging changed its operands: %d, %d and %d", a.Count(), b.Count(), empty.Count())
	}
}

func BenchmarkAdd(b *testing.B) {
	var h Histogram
	h.Add(1)
	b.ReportAllocs()
	for d := time.Duration(0); b.Loop(); d += 977 {
		h.Add(d)
	}
}
