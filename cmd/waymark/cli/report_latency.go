package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// reportLatency measures the time from one marker to another.
type reportLatency struct {
	out       *output
	json      bool
	by, endBy string
	from, to  []*event.Point
	pairs     *source.Pairs
	all       tracer.Latencies
}

func newReportLatency(out *output, o *reportOptions, r *recording.Reader, patterns []string) (*reportLatency, error) {
	v := &reportLatency{out: out, json: o.json}
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
	if err := v.checkKey(r); err != nil {
		return nil, err
	}
	v.pairs = source.NewPairs(source.PairOptions{
		Begins: func(p *event.Point) bool { return slices.Contains(v.from, p) },
		Ends:   func(p *event.Point) bool { return slices.Contains(v.to, p) },
		By:     v.by, EndBy: v.endBy,
	})
	return v, nil
}

// checkKey refuses to join by threads that the trace does not have: all events would be of one.
func (v *reportLatency) checkKey(r *recording.Reader) error {
	check := func(points []*event.Point, by string) error {
		for _, p := range points {
			switch {
			case by == "" && (r.Has(p, "tid") || r.Has(p, "goroutine")):
			case by == "" || (by == "tid" || by == "goroutine" || by == "pid" || by == "comm") && !r.Has(p, by):
				return withHint(fmt.Errorf("events of %s have no %s in this trace, which would join begin and end", p.FullName(), cmp.Or(by, "thread id")),
					"name a field that both markers have: --by FIELD; LTTng records thread ids after lttng add-context -u -t vtid")
			}
		}
		return nil
	}
	if err := check(v.from, v.by); err != nil {
		return err
	}
	return check(v.to, v.endBy)
}

func (v *reportLatency) event(e *recording.Event) error {
	if took, ended := v.pairs.Add(&e.Event); ended {
		v.all.Add(took)
	}
	return nil
}

func (v *reportLatency) end(t *reportTotal) error {
	n := v.pairs.Counts()
	v.all.Begins, v.all.Ends, v.all.Nested, v.all.Unread, v.all.Full = n.Begins, n.Ends, n.Nested, n.Unread, n.Full
	s := &latencySample{at: t.clock.Wall(t.last), elapsed: t.elapsed(), all: &v.all, recent: &v.all.Histogram}
	by, endBy := v.by, v.endBy
	if by == "" {
		by, endBy = "goroutine or thread", "goroutine or thread"
	}
	if v.json {
		return (&latencyJSON{v.out, func() jsonLatency {
			return jsonLatency{From: names(v.from), To: names(v.to), By: by, ToBy: endBy}
		}}).final(s, byTrace)
	}
	if by != endBy {
		by += " = " + endBy
	}
	title := fmt.Sprintf("%s → %s, by %s", markerNames(v.from, "none"), markerNames(v.to, "none"), label(by))
	return (&latencyPlain{v.out, styleFor(v.out.to), func() string { return title }}).final(s, byTrace)
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
