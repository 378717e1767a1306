package tracer

import "github.com/waymark-trace/waymark/internal/histogram"

// Histogram counts durations. Its sum and maximum are exact, all other durations are within 1.6 %.
// The zero value is empty. A Histogram must not be used by several goroutines at once.
type Histogram = histogram.Histogram
