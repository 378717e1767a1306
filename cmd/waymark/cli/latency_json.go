package cli

import (
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// latencyJSON prints an object for each interval, and one for all at the end.
type latencyJSON struct {
	out    *term.Output
	object func() jsonLatency // what is measured
}

// jsonLatency is an object of latency --json.
type jsonLatency struct {
	Time     string      `json:"time"`
	Elapsed  float64     `json:"elapsed_s"`
	From     []string    `json:"from"`
	To       []string    `json:"to"`
	By       string      `json:"by"`
	ToBy     string      `json:"to_by"`
	Pairs    uint64      `json:"pairs"`
	Rate     float64     `json:"rate"`
	P50      int64       `json:"p50_ns"`
	P90      int64       `json:"p90_ns"`
	P99      int64       `json:"p99_ns"`
	P999     int64       `json:"p99_9_ns"`
	Max      int64       `json:"max_ns"`
	Mean     int64       `json:"mean_ns"`
	Buckets  [][3]uint64 `json:"buckets"`
	Unpaired struct {
		From   uint64 `json:"from"`
		To     uint64 `json:"to"`
		Nested uint64 `json:"nested"`
		Full   uint64 `json:"full"`
		Unread uint64 `json:"unread"`
		Lost   uint64 `json:"lost,omitempty"`
	} `json:"unpaired"`
	Final bool `json:"final,omitempty"`
	End   end  `json:"end,omitempty"`
}

func newLatencyJSON(out *term.Output, l *latencyRun) *latencyJSON {
	return &latencyJSON{out, func() jsonLatency {
		from, to := l.pairs.Markers()
		o := jsonLatency{From: names(markerPoints(from)), To: names(markerPoints(to))}
		o.By, o.ToBy = l.pairs.By()
		return o
	}}
}

func names(points []*event.Point) []string {
	all := []string{} // not null
	for _, p := range points {
		all = append(all, p.FullName())
	}
	return all
}

func (v *latencyJSON) interval(s *latencySample) error { return v.print(s, s.recent, s.interval, "") }

func (v *latencyJSON) final(s *latencySample, why end) error {
	return v.print(s, &s.all.Histogram, s.elapsed, why)
}

func (v *latencyJSON) print(s *latencySample, h *tracer.Histogram, during time.Duration, why end) error {
	o := v.object()
	o.Time, o.Elapsed = s.at.UTC().Format(timeFormat), s.elapsed.Seconds()
	o.Pairs, o.Rate = h.Count(), perSecond(h.Count(), during)
	for i, p := range []*int64{&o.P50, &o.P90, &o.P99, &o.P999} {
		*p = int64(h.Percentile(percentiles[i]))
	}
	o.Max, o.Mean = int64(h.Max()), int64(h.Mean())
	o.Buckets = [][3]uint64{} // not null
	for _, b := range h.Buckets() {
		o.Buckets = append(o.Buckets, [3]uint64{uint64(b.Low), uint64(b.High), b.Count})
	}
	all := s.all
	o.Unpaired.From = all.Begins - min(all.Count(), all.Begins)
	o.Unpaired.To = all.Ends - min(all.Count(), all.Ends)
	o.Unpaired.Nested, o.Unpaired.Full, o.Unpaired.Unread = all.Nested, all.Full, all.Unread
	o.Unpaired.Lost = all.Lost
	o.Final, o.End = why != "", why
	return writeJSON(v.out, &o)
}
