package view

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// histogramWidth is the length of the longest bar, in characters.
const histogramWidth = 40

// maxHistogram is how many lines a histogram has at most: a duration has 63 bits.
const maxHistogram = 64

// histogramLines draws a line for each power of two, or for several of them when there are
// more than room for lines. Bars are shorter where the lines would be longer than width, which is
// 0 for any.
func histogramLines(h *tracer.Histogram, room, width int) []string {
	counts := make(map[int]uint64)
	low, high := 63, 0
	for _, b := range h.Buckets() {
		i := max(bits.Len64(uint64(b.Low)), 1) - 1
		counts[i] += b.Count
		low, high = min(low, i), max(high, i)
	}
	if len(counts) == 0 {
		return nil
	}
	step := 1
	for (high-low)/step+1 > max(room, 1) {
		step++
	}
	sum := func(from int) (n uint64) {
		for i := from; i < from+step; i++ {
			n += counts[i]
		}
		return n
	}
	most := uint64(0)
	for i := low; i <= high; i += step {
		most = max(most, sum(i))
	}
	t := term.Table{Right: []bool{true, true, false}}
	for i := low; i <= high; i += step {
		t.Add(fmt.Sprintf("%v – %v", short(1<<i), short(1<<min(i+step, 62))), fmt.Sprint(sum(i)), "")
	}
	longest := histogramWidth
	if w := t.Widths(); width > 0 {
		longest = max(1, min(longest, width-w[0]-w[1]-4))
	}
	for i := range t.Rows {
		n := float64(sum(low + i*step))
		t.Rows[i][2] = strings.Repeat("█", int((n*float64(longest)+float64(most)-1)/float64(most)))
	}
	return t.Lines()
}

// percentiles are those that people look at.
var percentiles = []float64{50, 90, 99, 99.9}

// percentileParts says what the histogram cannot show.
func percentileParts(h *tracer.Histogram) []string {
	parts := []string{term.Plural(h.Count(), "pair")}
	for _, p := range percentiles {
		parts = append(parts, fmt.Sprintf("p%g %v", p, short(h.Percentile(p))))
	}
	return append(parts, fmt.Sprintf("max %v", short(h.Max())), fmt.Sprintf("mean %v", short(h.Mean())))
}

// short returns a duration with three digits at most.
func short(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}
