package tracer

import "github.com/waymark-trace/waymark/internal/histogram"

// Histogram counts durations. It knows their sum and maximum exactly, and every other duration within
// 1.6 %. The zero value is empty. Its methods are for one goroutine at a time.
type Histogram = histogram.Histogram

// Bucket counts the durations that were at least Low and below High.
type Bucket = histogram.Bucket
