package stats

import (
	"encoding/json"
	"math/bits"
	"time"

	"github.com/waymark-trace/waymark/event/histogram"
)

// Snapshot has the counts up to one moment. As JSON, durations are nanoseconds.
type Snapshot struct {
	Since   time.Time     `json:"since"`
	Elapsed time.Duration `json:"elapsed_ns"`
	Markers []Marker      `json:"markers"` // sorted by name
	Pairs   []Pair        `json:"pairs"`   // in the order of Options.Latency
}

// Marker is how often a marker was passed.
type Marker struct {
	Name  string  `json:"name"`
	Count uint64  `json:"count"`
	Rate  float64 `json:"rate"` // per second, of the last Window seconds
}

// Pair is how often a pair was complete, and how long it took.
type Pair struct {
	Begin   string  `json:"begin"`
	End     string  `json:"end"`
	Key     string  `json:"key,omitempty"`
	EndKey  string  `json:"end_key,omitempty"`
	Count   uint64  `json:"count"`
	Rate    float64 `json:"rate"`
	Open    int     `json:"open"`    // begins that wait for their end
	Unended uint64  `json:"unended"` // begins that gave way to others, or had no key
	Unbegun uint64  `json:"unbegun"` // ends without a begin
	Latency Latency `json:"latency"`
}

// Latency is how long complete pairs took; all zero when there were none.
type Latency struct {
	Mean    time.Duration `json:"mean_ns"`
	P50     time.Duration `json:"p50_ns"`
	P90     time.Duration `json:"p90_ns"`
	P99     time.Duration `json:"p99_ns"`
	P999    time.Duration `json:"p999_ns"`
	Max     time.Duration `json:"max_ns"`
	Buckets []Bucket      `json:"buckets"` // from the first that is not empty to the last
}

// Bucket counts latencies from From up to but not including To, both powers of two of a nanosecond.
type Bucket struct {
	From  time.Duration `json:"from_ns"`
	To    time.Duration `json:"to_ns"`
	Count uint64        `json:"count"`
}

// Snapshot returns the counts so far. Hits during the call may be in some of its numbers and not in
// others. It takes some 10 µs for a pair, and holds up the markers for less.
func (s *Stats) Snapshot() Snapshot {
	now := time.Since(s.start)
	out := Snapshot{Since: s.start, Elapsed: now, Markers: []Marker{}, Pairs: []Pair{}}
	for _, c := range s.markers {
		count, rate := c.passed.read(now)
		out.Markers = append(out.Markers, Marker{c.name, count, rate})
	}
	for _, p := range s.pairs {
		count, rate := p.done.read(now)
		out.Pairs = append(out.Pairs, Pair{
			Begin: p.Begin, End: p.End, Key: p.Key, EndKey: p.EndKey, Count: count, Rate: rate,
			Open: p.open.Len(), Unended: p.unended.Load(), Unbegun: p.unbegun.Load(),
			Latency: latency(p.done.latencies()),
		})
	}
	return out
}

func latency(h *histogram.Histogram) Latency {
	l := Latency{Buckets: []Bucket{}}
	if h.Count() == 0 {
		return l
	}
	l.Mean, l.Max = h.Mean(), h.Max()
	l.P50, l.P90, l.P99, l.P999 = h.Percentile(50), h.Percentile(90), h.Percentile(99), h.Percentile(99.9)
	var counts [64]uint64 // by power of two
	low, high := len(counts), 0
	for _, b := range h.Buckets() {
		power := bits.Len64(uint64(b.Low)|1) - 1
		counts[power] += b.Count
		low, high = min(low, power), max(high, power)
	}
	for power := low; power <= high; power++ {
		l.Buckets = append(l.Buckets, Bucket{From: 1 << power, To: 2 << power, Count: counts[power]})
	}
	return l
}

// String returns the snapshot as JSON, which makes the Stats an expvar.Var.
func (s *Stats) String() string {
	text, err := json.Marshal(s.Snapshot())
	if err != nil {
		return "null" // numbers and names: it cannot happen, and expvar needs some JSON
	}
	return string(text)
}
