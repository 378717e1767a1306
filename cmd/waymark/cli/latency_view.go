package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// latencySample is what was measured up to one time.
type latencySample struct {
	at       time.Time
	elapsed  time.Duration // since attaching
	interval time.Duration // since the last sample
	all      *tracer.Latencies
	recent   *tracer.Histogram // what there is since the last sample
}

// latencyView shows samples.
type latencyView interface {
	interval(*latencySample) error
	final(*latencySample, end) error
}

func (l *latencyRun) view(s *session, out *term.Output) latencyView {
	plain := latencyPlain{out, l.title}
	switch {
	case l.o.json:
		return newLatencyJSON(out, l)
	case l.o.print != 0:
		return &latencyIntervals{plain: plain}
	case s.command == nil && out.IsScreen():
		return &latencyLive{plain, term.NewScreen(out)}
	}
	return &plain
}

// title says what is measured.
func (l *latencyRun) title() string {
	from, to := l.pairs.Markers()
	by, endBy := l.pairs.By()
	if len(from)+len(to) == 0 {
		return fmt.Sprintf("%s → %s", term.Label(l.patterns[0]), term.Label(l.patterns[1]))
	}
	if by == "tid" && l.o.by == "" {
		by, endBy = "thread", "thread"
	}
	if by != endBy {
		by += " = " + endBy
	}
	return fmt.Sprintf("%s → %s, by %s", markerNames(markerPoints(from), l.patterns[0]), markerNames(markerPoints(to), l.patterns[1]), term.Label(by))
}

// markerNames returns the names of markers, the first few of them, or the pattern that none has matched.
func markerNames(points []*event.Point, pattern string) string {
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

// latencyPlain prints the histogram at the end.
type latencyPlain struct {
	out   *term.Output
	title func() string
}

func (*latencyPlain) interval(*latencySample) error { return nil }

func (v *latencyPlain) final(s *latencySample, _ end) error {
	lines := v.lines(s, 0, 0)
	lines[0] = v.out.Style.Bold(lines[0])
	_, err := fmt.Fprintln(v.out, strings.Join(lines, "\n"))
	return err
}

// lines lays out everything there is to say, so that it leaves a line of a screen of that size
// free; 0 by 0 is none.
func (v *latencyPlain) lines(s *latencySample, width, height int) []string {
	h := &s.all.Histogram
	parts := []string{"no pairs"}
	if h.Count() > 0 {
		parts = percentileParts(h)
	}
	parts = append(parts, fmt.Sprintf("in %s, %s", seconds(s.elapsed), rateText(perSecond(h.Count(), s.elapsed))))
	below := term.Wrap(parts, width)
	if height > 0 && len(below) > height/3 {
		below = term.Wrap(parts, 0) // a stamp of a screen: rather cut off than without bars
	}
	if rest := unpaired(s.all); rest != "" {
		below = append(below, rest)
	}
	room := maxHistogram
	if height > 0 {
		room = height - len(below) - 3
	}
	lines := append([]string{v.title()}, histogramLines(h, room, width)...)
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

// latencyLive redraws in place, then leaves the lines of latencyPlain there.
type latencyLive struct {
	latencyPlain
	screen *term.Screen
}

func (v *latencyLive) interval(s *latencySample) error {
	width, height := v.screen.Size()
	lines := v.lines(s, width, height)
	lines = append(lines, "Ctrl-C ends it")
	for i := range lines {
		lines[i] = term.Clip(lines[i], width)
	}
	return v.screen.Draw(lines)
}

func (v *latencyLive) final(s *latencySample, why end) error {
	if err := v.screen.Clear(); err != nil {
		return err
	}
	return v.latencyPlain.final(s, why)
}

// latencyIntervals prints a line for every interval, and everything at the end.
type latencyIntervals struct {
	plain latencyPlain
	begun bool
}

func (v *latencyIntervals) interval(s *latencySample) error {
	t := term.Table{Right: make([]bool, 9), Least: []int{9, 7, 9, 7, 7, 7, 7, 7, 7}}
	for i := range t.Right {
		t.Right[i] = true
	}
	if !v.begun {
		t.Add("TIME", "PAIRS", "RATE", "P50", "P90", "P99", "P99.9", "MAX", "MEAN")
	}
	h := s.recent
	cells := []string{fmt.Sprintf("%.3f s", s.elapsed.Seconds()), fmt.Sprint(h.Count()), rateText(perSecond(h.Count(), s.interval))}
	if h.Count() > 0 {
		for _, p := range percentiles {
			cells = append(cells, short(h.Percentile(p)).String())
		}
		cells = append(cells, short(h.Max()).String(), short(h.Mean()).String())
	}
	t.Add(cells...)
	var heading func(string) string
	if !v.begun {
		v.begun, heading = true, v.plain.out.Style.Bold
	}
	return t.Print(v.plain.out, heading)
}

// final prints the last interval, unless the session ended with one, and all of it.
func (v *latencyIntervals) final(s *latencySample, why end) error {
	if s.interval >= time.Millisecond || s.recent.Count() > 0 {
		if err := v.interval(s); err != nil {
			return err
		}
	}
	return v.plain.final(s, why)
}
