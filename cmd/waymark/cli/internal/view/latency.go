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
	Rows     []LatencyRow         // with --by, the groups
}

// LatencySampler makes samples. The zero LatencySampler is ready.
type LatencySampler struct {
	elapsed time.Duration // at the last sample
	all     histogram.Histogram
	groups  map[*tracer.Key]*histogram.Histogram // of the last sample; nil is that of the others
}

// Sample returns the sample of what was measured so far.
func (s *LatencySampler) Sample(at time.Time, elapsed time.Duration, all *tracer.Latencies) *LatencySample {
	now := &LatencySample{At: at, Elapsed: elapsed, Interval: elapsed - s.elapsed, All: all, Recent: all.Since(&s.all)}
	before := s.groups
	s.elapsed, s.all, s.groups = elapsed, all.Histogram, map[*tracer.Key]*histogram.Histogram{}
	add := func(r LatencyRow) {
		r.Recent = r.All
		if last := before[r.Key]; last != nil {
			r.Recent = r.All.Since(last)
		}
		s.groups[r.Key] = r.All
		now.Rows = append(now.Rows, r)
	}
	for i := range all.Keys {
		k := &all.Keys[i]
		add(LatencyRow{Key: k.Key, Fields: k.Fields, All: &k.Histogram})
	}
	if all.Others.Count() > 0 {
		add(LatencyRow{Other: true, All: &all.Others})
	}
	return now
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

// LatencyPlain prints the histogram at the end, or the table of groups.
type LatencyPlain struct {
	Out   *term.Output
	Title func() string
	Table LatencyTable
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
	if len(v.Table.By) > 0 {
		room = 0
	}
	if height > 0 {
		room = max(height-len(below)-3, 1)
	}
	lines := []string{v.Title()}
	if len(v.Table.By) > 0 {
		lines = append(lines, v.Table.lines(s.Rows, room)...)
	} else {
		lines = append(lines, histogramLines(h, room, width)...)
	}
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

// LatencyJSON prints an object for each interval, and one for all at the end. With groups one for each of them comes
// before it.
type LatencyJSON struct {
	Out    *term.Output
	Object func() LatencyObject // what is measured
	Table  LatencyTable
}

// LatencyObject is an object of latency --json.
type LatencyObject struct {
	Time    string     `json:"time"`
	Elapsed float64    `json:"elapsed_s"`
	From    []string   `json:"from"`
	To      []string   `json:"to"`
	Key     string     `json:"key"`
	ToKey   string     `json:"to_key"`
	By      jsonFields `json:"by,omitempty"`
	jsonNotes
	Other    bool          `json:"other,omitempty"`
	Rest     int           `json:"rest,omitempty"`
	Pairs    uint64        `json:"pairs"`
	Rate     float64       `json:"rate"`
	P50      int64         `json:"p50_ns"`
	P90      int64         `json:"p90_ns"`
	P99      int64         `json:"p99_ns"`
	P999     int64         `json:"p99_9_ns"`
	Max      int64         `json:"max_ns"`
	Mean     int64         `json:"mean_ns"`
	Buckets  [][3]uint64   `json:"buckets"`
	Unpaired *jsonUnpaired `json:"unpaired,omitempty"`
	Final    bool          `json:"final,omitempty"`
	End      End           `json:"end,omitempty"`
}

// jsonUnpaired are the hits that are in no pair.
type jsonUnpaired struct {
	From   uint64 `json:"from"`
	To     uint64 `json:"to"`
	Nested uint64 `json:"nested"`
	Full   uint64 `json:"full"`
	Unread uint64 `json:"unread"`
	Lost   uint64 `json:"lost,omitempty"`
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
func (v *LatencyJSON) Interval(s *LatencySample) error {
	return v.print(s, recent, s.Recent, s.Interval, "")
}

// Final implements [View].
func (v *LatencyJSON) Final(s *LatencySample, why End) error {
	return v.print(s, inAll, &s.All.Histogram, s.Elapsed, why)
}

func (v *LatencyJSON) print(s *LatencySample, of func(*LatencyRow) *histogram.Histogram, all *histogram.Histogram, during time.Duration, why End) error {
	for _, r := range v.Table.choose(s.Rows, of) {
		o := v.Object()
		if r.Key != nil {
			for i, name := range v.Table.By {
				f, value := &r.Fields[i], &r.Key.Values[i]
				o.By = append(o.By, jsonField{name, jsonValue(f, value)})
				o.note(name, f, value)
			}
		}
		o.Other, o.Rest = r.Other, r.folded
		if err := v.write(&o, s, of(&r), during, why); err != nil {
			return err
		}
	}
	o, a := v.Object(), s.All
	o.Unpaired = &jsonUnpaired{
		From: a.Begins - min(a.Count(), a.Begins), To: a.Ends - min(a.Count(), a.Ends),
		Nested: a.Nested, Full: a.Full, Unread: a.Unread, Lost: a.Lost,
	}
	return v.write(&o, s, all, during, why)
}

// write prints an object with what was measured.
func (v *LatencyJSON) write(o *LatencyObject, s *LatencySample, h *histogram.Histogram, during time.Duration, why End) error {
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
	o.Final, o.End = why != "", why
	return WriteJSON(v.Out, o)
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
