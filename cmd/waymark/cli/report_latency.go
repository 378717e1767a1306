package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// reportLatency measures the time from one marker to another.
type reportLatency struct {
	out       *term.Output
	json      bool
	by, endBy string
	from, to  []*event.Point
	pairs     *source.Pairs
	all       tracer.Latencies
	clock     source.Clock
	last      time.Duration // of the last event
}

func newReportLatency(out *term.Output, o *reportOptions, r *recording.Reader, patterns []string) (*reportLatency, error) {
	v := &reportLatency{out: out, json: o.json, clock: r.Clock()}
	points := r.Points()
	var err error
	if v.from, err = selectPoints(points, patterns[:1]); err != nil {
		return nil, err
	}
	if v.to, err = selectPoints(points, patterns[1:]); err != nil {
		return nil, err
	}
	v.by, v.endBy, _ = strings.Cut(o.by, "=")
	if v.endBy == "" {
		v.endBy = v.by
	}
	v.pairs = source.NewPairs(source.PairOptions{
		Begins: func(p *event.Point) bool { return slices.Contains(v.from, p) },
		Ends:   func(p *event.Point) bool { return slices.Contains(v.to, p) },
		By:     v.by, EndBy: v.endBy,
	})
	return v, nil
}

// Recorded adds an event.
func (v *reportLatency) Recorded(e *recording.Event) error {
	v.last = e.Time
	if took, ended := v.pairs.Add(&e.Event); ended {
		v.all.Add(took)
	}
	return nil
}

// Summary prints the histogram.
func (v *reportLatency) Summary(sum *view.TraceSummary) error {
	n := v.pairs.Counts()
	v.all.Begins, v.all.Ends, v.all.Nested, v.all.Unread, v.all.Full = n.Begins, n.Ends, n.Nested, n.Unread, n.Full
	s := &view.LatencySample{At: v.clock.Wall(v.last), Elapsed: sum.Elapsed, All: &v.all, Recent: &v.all.Histogram}
	by, endBy := v.by, v.endBy
	if by == "" {
		by, endBy = "goroutine or thread", "goroutine or thread"
	}
	if v.json {
		return (&view.LatencyJSON{Out: v.out, Object: func() view.LatencyObject {
			return view.LatencyObject{From: view.Names(v.from), To: view.Names(v.to), By: by, ToBy: endBy}
		}}).Final(s, view.ByTrace)
	}
	if by != endBy {
		by += " = " + endBy
	}
	title := fmt.Sprintf("%s → %s, by %s", view.MarkerNames(v.from, "none"), view.MarkerNames(v.to, "none"), term.Label(by))
	return (&view.LatencyPlain{Out: v.out, Title: func() string { return title }}).Final(s, view.ByTrace)
}

// completeReport completes the trace by files, and then the markers in it.
func completeReport(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		r, _ := recording.Open(args[0])
		if r == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer r.Close()
		var names []string
		for _, m := range r.Points() {
			names = append(names, m.FullName())
		}
		return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}
