package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latencies collects durations and shows how they are spread.
type latencies struct{ h *hdrhistogram.Histogram }

// maxLatency is what longer durations are counted as.
const maxLatency = int64(time.Hour)

// newLatencies keeps two significant digits, for which HdrHistogram needs 40 KiB.
func newLatencies() *latencies { return &latencies{hdrhistogram.New(1, maxLatency, 2)} }

func (l *latencies) add(d time.Duration) {
	// Within its bounds, recording cannot go wrong.
	_ = l.h.RecordValue(min(max(int64(d), 1), maxLatency))
}

// histogramWidth is the length of the longest bar, in characters.
const histogramWidth = 40

// print draws one line for each power of two, then the percentiles.
func (l *latencies) print(w io.Writer) {
	if l.h.TotalCount() == 0 {
		fmt.Fprintln(w, "no pairs")
		return
	}
	counts := make(map[int]int64)
	low, high, most := 63, 0, int64(0)
	for _, bar := range l.h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		i := 0
		for bar.From>>(i+1) > 0 {
			i++
		}
		counts[i] += bar.Count
		low, high, most = min(low, i), max(high, i), max(most, counts[i])
	}
	t := table{right: []bool{true, true, false}}
	for i := low; i <= high; i++ {
		bar := strings.Repeat("█", int((counts[i]*histogramWidth+most-1)/most))
		t.add(fmt.Sprintf("%v – %v", short(1<<i), short(2<<i)), fmt.Sprint(counts[i]), bar)
	}
	fmt.Fprintln(w, strings.Join(t.lines(), "\n"))
	fmt.Fprintf(w, "%d pairs", l.h.TotalCount())
	for _, p := range []float64{50, 90, 99, 99.9} {
		fmt.Fprintf(w, "   p%g %v", p, short(l.h.ValueAtQuantile(p)))
	}
	fmt.Fprintf(w, "   max %v\n", short(l.h.Max()))
}

// short returns nanoseconds as a duration with three digits at most.
func short(ns int64) time.Duration {
	unit := time.Duration(1)
	for time.Duration(ns)/unit >= 1000 {
		unit *= 10
	}
	return time.Duration(ns).Round(unit)
}
