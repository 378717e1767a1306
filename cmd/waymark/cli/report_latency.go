package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// maxOpen bounds the begins without an end that are remembered.
const maxOpen = 1 << 20

// reportLatency measures the time from one marker to another.
type reportLatency struct {
	out       *output
	json      bool
	by, endBy string
	from, to  []*tracer.Marker
	isFrom    map[*tracer.Marker]bool
	isTo      map[*tracer.Marker]bool
	open      map[string]time.Time // by what joins a pair
	all       tracer.Latencies
}

func newReportLatency(out *output, o *reportOptions, markers []*tracer.Marker, patterns []string) (*reportLatency, error) {
	v := &reportLatency{out: out, json: o.json, isFrom: map[*tracer.Marker]bool{}, isTo: map[*tracer.Marker]bool{}, open: map[string]time.Time{}}
	var err error
	if v.from, err = tracer.Select(markers, patterns[:1]); err != nil {
		return nil, err
	}
	if v.to, err = tracer.Select(markers, patterns[1:]); err != nil {
		return nil, err
	}
	for _, m := range v.from {
		v.isFrom[m] = true
	}
	for _, m := range v.to {
		v.isTo[m] = true
	}
	v.by, v.endBy, _ = strings.Cut(o.by, "=")
	if v.endBy == "" {
		v.endBy = v.by
	}
	return v, nil
}

func (v *reportLatency) event(e *recording.Event) error {
	if v.isTo[e.Marker] { // first: a marker that is both ends what it began before
		v.ends(e)
	}
	if v.isFrom[e.Marker] {
		v.begins(e)
	}
	return nil
}

func (v *reportLatency) ends(e *recording.Event) {
	key, ok := joinKey(e, v.endBy)
	if !ok {
		v.all.Unread++
		return
	}
	v.all.Ends++
	if began, ok := v.open[key]; ok {
		v.all.Add(e.Time.Sub(began))
		delete(v.open, key)
	}
}

func (v *reportLatency) begins(e *recording.Event) {
	key, ok := joinKey(e, v.by)
	if !ok {
		v.all.Unread++
		return
	}
	v.all.Begins++
	if _, nested := v.open[key]; nested {
		v.all.Nested++
	} else if len(v.open) == maxOpen {
		v.all.Full++
		return
	}
	v.open[key] = e.Time
}

// joinKey is what both sides of a pair have in common: the process, and a goroutine, a thread or a field.
func joinKey(e *recording.Event, by string) (string, bool) {
	if by == "" {
		if by = "tid"; e.Goroutine != 0 {
			by = "goroutine"
		}
	}
	value, ok := valueOfName(e, by)
	if value.Text != nil {
		return fmt.Sprintf("%d %q", e.PID, value.Text), ok
	}
	return fmt.Sprintf("%d %d", e.PID, value.Bits), ok
}

func (v *reportLatency) end(t *reportTotal) error {
	s := &latencySample{at: t.last, elapsed: t.elapsed(), all: &v.all, recent: &v.all.Histogram}
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
		for _, m := range r.Markers() {
			names = append(names, m.FullName())
		}
		return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}
