package view

import (
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
	"github.com/waymark-trace/waymark/tracer"
)

// LatencySample is what was measured up to one time.
type LatencySample struct {
	At       time.Time
	Elapsed  time.Duration // since attaching
	Interval time.Duration // since the last sample
	All      *tracer.Latencies
	Recent   *histogram.Histogram // what there is since the last sample
}

// MarkerNames returns the names of markers, the first few of them, or the pattern that none has matched.
func MarkerNames(points []*event.Point, pattern string) string {
	const most = 3
	if len(points) == 0 {
		return term.Label(pattern)
	}
	var names []string
	for _, p := range points {
		if len(names) == most {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(points)-most)
		}
		names = append(names, term.Label(p.FullName()))
	}
	return term.List(names)
}

// LatencyPlain prints the histogram at the end.
type LatencyPlain struct {
	Out   *term.Output
	Title func() string
}

func (*LatencyPlain) Interval(*LatencySample) error { return nil }

// Final implements [View].
func (v *LatencyPlain) Final(s *LatencySample, _ End) error {
	lines := v.lines(s, 0, 0)
	lines[0] = v.Out.Style.Bold(lines[0])
	for _, line := range lines {
		if err := term.Linef(v.Out, "%s", line); err != nil {
			return err
		}
	}
	return nil
}

// lines lays out everything there is to say, so that it leaves a line of a screen of that size
// free; 0 by 0 is none.
func (v *LatencyPlain) lines(s *LatencySample, width, height int) []string {
	h := &s.All.Histogram
	parts := []string{"no pairs"}
	if h.Count() > 0 {
		parts = percentileParts(h)
	}
	parts = append(parts, fmt.Sprintf("in %s, %s", Seconds(s.Elapsed), rateText(perSecond(h.Count(), s.Elapsed))))
	below := term.Wrap(parts, width)
	if height > 0 && len(below) > height/3 {
		below = term.Wrap(parts, 0) // a stamp of a screen: rather cut off than without bars
	}
	if rest := unpaired(s.All); rest != "" {
		below = append(below, rest)
	}
	room := maxHistogram
	if height > 0 {
		room = height - len(below) - 3
	}
	lines := append([]string{v.Title()}, histogramLines(h, room, width)...)
	return append(lines, below...)
}

// unpaired says which hits are in no pair, "" when all are.
func unpaired(l *tracer.Latencies) string {
	var parts []string
	if n := l.Begins - min(l.Count(), l.Begins); n > 0 {
		part := term.Plural(n, "begin") + " without an end"
		if l.Nested > 0 {
			part += fmt.Sprintf(", %d of them because another came before it", l.Nested)
		}
		parts = append(parts, part)
	}
	if n := l.Ends - min(l.Count(), l.Ends); n > 0 {
		parts = append(parts, term.Plural(n, "end")+" without a begin")
	}
	if l.Unread > 0 {
		parts = append(parts, term.Plural(l.Unread, "hit")+" whose key could not be read")
	}
	if l.Lost > 0 {
		parts = append(parts, term.Plural(l.Lost, "event")+" lost")
	}
	if l.Full > 0 {
		parts = append(parts, term.Plural(l.Full, "begin")+" that found no room")
	}
	return strings.Join(parts, "; ")
}

// NewLatencyLive returns a view that redraws the histogram in place, and leaves the one of last there.
func NewLatencyLive(out *term.Output, last LatencyPlain) *Live[*LatencySample] {
	return &Live[*LatencySample]{&last, term.NewScreen(out), func(s *LatencySample, width, height int) []string {
		return append(last.lines(s, width, height), "Ctrl-C ends it")
	}}
}

// LatencyIntervals prints a line for every interval, and everything at the end.
type LatencyIntervals struct {
	Plain LatencyPlain
	begun bool
}

// Interval implements [View].
func (v *LatencyIntervals) Interval(s *LatencySample) error {
	t := term.Table{Right: make([]bool, 9), Least: []int{9, 7, 9, 7, 7, 7, 7, 7, 7}}
	for i := range t.Right {
		t.Right[i] = true
	}
	if !v.begun {
		t.Add("TIME", "PAIRS", "RATE", "P50", "P90", "P99", "P99.9", "MAX", "MEAN")
	}
	h := s.Recent
	cells := []string{fmt.Sprintf("%.3f s", s.Elapsed.Seconds()), fmt.Sprint(h.Count()), rateText(perSecond(h.Count(), s.Interval))}
	if h.Count() > 0 {
		for _, p := range percentiles {
			cells = append(cells, short(h.Percentile(p)).String())
		}
		cells = append(cells, short(h.Max()).String(), short(h.Mean()).String())
	}
	t.Add(cells...)
	var heading func(string) string
	if !v.begun {
		v.begun, heading = true, v.Plain.Out.Style.Bold
	}
	return t.Print(v.Plain.Out, heading)
}

// Final prints the last interval, unless the session ended with one, and all of it.
func (v *LatencyIntervals) Final(s *LatencySample, why End) error {
	if s.Interval >= time.Millisecond || s.Recent.Count() > 0 {
		if err := v.Interval(s); err != nil {
			return err
		}
	}
	return v.Plain.Final(s, why)
}

// LatencyJSON prints an object for each interval, and one for all at the end.
type LatencyJSON struct {
	Out    *term.Output
	Object func() LatencyObject // what is measured
}

// LatencyObject is an object of latency --json.
type LatencyObject struct {
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
	End   End  `json:"end,omitempty"`
}

// Names returns the full names of points.
func Names(points []*event.Point) []string {
	all := []string{} // not null
	for _, p := range points {
		all = append(all, p.FullName())
	}
	return all
}

// Interval implements [View].
func (v *LatencyJSON) Interval(s *LatencySample) error { return v.print(s, s.Recent, s.Interval, "") }

// Final implements [View].
func (v *LatencyJSON) Final(s *LatencySample, why End) error {
	return v.print(s, &s.All.Histogram, s.Elapsed, why)
}

func (v *LatencyJSON) print(s *LatencySample, h *histogram.Histogram, during time.Duration, why End) error {
	o := v.Object()
	o.Time, o.Elapsed = s.At.UTC().Format(timeFormat), s.Elapsed.Seconds()
	o.Pairs, o.Rate = h.Count(), perSecond(h.Count(), during)
	for i, p := range []*int64{&o.P50, &o.P90, &o.P99, &o.P999} {
		*p = int64(h.Percentile(percentiles[i]))
	}
	o.Max, o.Mean = int64(h.Max()), int64(h.Mean())
	o.Buckets = [][3]uint64{} // not null
	for _, b := range h.Buckets() {
		o.Buckets = append(o.Buckets, [3]uint64{uint64(b.Low), uint64(b.High), b.Count})
	}
	all := s.All
	o.Unpaired.From = all.Begins - min(all.Count(), all.Begins)
	o.Unpaired.To = all.Ends - min(all.Count(), all.Ends)
	o.Unpaired.Nested, o.Unpaired.Full, o.Unpaired.Unread = all.Nested, all.Full, all.Unread
	o.Unpaired.Lost = all.Lost
	o.Final, o.End = why != "", why
	return WriteJSON(v.Out, &o)
}

// MarkerPoints returns the points of markers.
func MarkerPoints(markers []*tracer.Marker) []*event.Point {
	points := make([]*event.Point, len(markers))
	for i, m := range markers {
		points[i] = &m.Point
	}
	return points
}

// histogramWidth is the length of the longest bar, in characters.
const histogramWidth = 40

// maxHistogram is how many lines a histogram has at most: a duration has 63 bits.
const maxHistogram = 64

// histogramLines draws a line for each power of two, or for several of them when there are
// more than room for lines. Bars are shorter where the lines would be longer than width, which is
// 0 for any.
func histogramLines(h *histogram.Histogram, room, width int) []string {
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
func percentileParts(h *histogram.Histogram) []string {
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
