package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer/recording"
)

const reportLong = `Print the contents of a trace on disk.

TRACE is a directory of waymark record, or another trace in the Common Trace
Format, such as LTTng's. If there are several traces below it, all are read, in
the order of time. Lines and JSON objects are those of waymark trace, and so are
patterns and --where.

--stat prints the number of events of each marker instead. --latency prints the
time from BEGIN to END, the two patterns: a pair is of one goroutine, or else of
one thread, or with --key of one value of a field. --by groups the pairs by
fields. Both are as with waymark latency.

Damage is reported with file and byte. Everything that can be read is printed,
and the exit status is 1 then.`

const reportExample = `  waymark report trace                          one line for each event
  waymark report trace 'http:*' --where 'status >= 500'
  waymark report trace --stat                   how many events each marker has
  waymark report trace --latency http:request_start http:request_end
  waymark report trace --latency --by path http:request_start http:request_end
  waymark report --json ~/lttng-traces/auto-20261121-100000`

type reportOptions struct {
	json, stat, latency bool
	where, out          string
	pairFlags
}

func newReportCommand(env *term.Env) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:     "report [FLAGS] TRACE [PATTERN...]",
		Short:   "Print the contents of a trace on disk",
		Long:    reportLong,
		Example: reportExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			return reportTrace(cmd.Context(), env, &o, args[0], args[1:])
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.json, "json", false, "print JSON, one object a line: docs/json.md")
	flags.BoolVar(&o.stat, "stat", false, "print the number of events of each marker")
	flags.BoolVar(&o.latency, "latency", false, "print the time from BEGIN to END, the two patterns")
	o.pairFlags.add(cmd, "with --latency, ")
	flags.StringVar(&o.where, "where", "", "only matching events: `CONDITION`, see docs/filters.md")
	flags.StringVarP(&o.out, "output", "o", "", "write to `FILE`, - for standard output")
	completeReport(cmd)
	return cmd
}

func (o *reportOptions) check(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return term.Usage("such as waymark report waymark-20261121-100000", "%s needs a trace", cmd.CommandPath())
	case o.stat && o.latency:
		return term.Usage("one after the other", "--stat and --latency are two reports")
	case o.latency && len(args) != 3:
		return term.Usage("such as waymark report trace --latency http:request_start http:request_end",
			"--latency is from one marker to another, and %s", namedText(len(args)-1))
	case (o.key != "" || len(o.by) > 0) && !o.latency:
		return term.Usage("add --latency BEGIN END", "--key and --by are about the pairs of --latency")
	}
	if err := o.pairFlags.check(cmd); err != nil {
		return err
	}
	return checkWhere(o.where)
}

// reporter prints events, or what they come to.
type reporter interface {
	Recorded(*recording.Event) error
	Summary(*view.TraceSummary) error
}

// reportTrace reads a trace from its beginning to its end.
func reportTrace(ctx context.Context, e *term.Env, o *reportOptions, path string, patterns []string) error {
	done := e.Progress("opening %s", term.Label(path))
	r, damage := recording.Open(path)
	done()
	if r == nil && errors.Is(damage, ctf.ErrVersion2) {
		return damage
	}
	if r == nil {
		return term.WithHint(damage, "TRACE is a directory with a file named metadata, or with such below it, as waymark record and LTTng write them")
	}
	defer r.Close()
	sum := view.TraceSummary{End: view.ByTrace, Damaged: damage != nil}
	if sum.Damaged {
		explain.Print(e, damage)
	}
	chosen, err := chooseEvents(r.Points(), patterns, o.where)
	if err != nil {
		return err
	}
	err = e.WithOutput(o.out, func(out *term.Output) error {
		v, err := newReporter(e, out, o, r, patterns)
		if err != nil {
			return err
		}
		var read atomic.Uint64
		if o.stat || o.latency || out.Beside(e) {
			defer e.ProgressOf(func() string {
				return fmt.Sprintf("reading %s, %s", term.Label(path), term.Plural(read.Load(), "event"))
			})()
		}
		return printRecorded(ctx, e, r, &read, chosen, v, &sum)
	})
	if err != nil {
		return err
	}
	sum.Print(e)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case sum.Damaged:
		return term.StatusFailure(term.StatusError)
	}
	return nil
}

// printRecorded prints the chosen events of a trace and their summary. read counts all events.
func printRecorded(ctx context.Context, e *term.Env, r *recording.Reader, read *atomic.Uint64, chosen *eventChoice, v reporter, sum *view.TraceSummary) error {
	var first time.Duration
	others := uint64(0)
	for ctx.Err() == nil {
		event, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			sum.Damaged = true
			explain.Print(e, err)
			continue
		}
		read.Add(1)
		ok, selected := chosen.holds(event)
		if !selected {
			continue
		}
		if !ok {
			others++
			continue
		}
		if sum.Events++; sum.Events == 1 {
			first = event.Time
		}
		sum.Elapsed = event.Time - first
		if err := v.Recorded(event); err != nil {
			return err
		}
	}
	lost, err := r.Losses()
	if err != nil {
		return err
	}
	sum.LostPackets = r.LostPackets()
	if sum.Lost = source.Total(lost); chosen.filters {
		sum.Filtered = &others
	}
	return v.Summary(sum)
}

func newReporter(e *term.Env, out *term.Output, o *reportOptions, r *recording.Reader, patterns []string) (reporter, error) {
	switch {
	case o.latency:
		return newReportLatency(e, out, o, r, patterns)
	case o.stat:
		return view.NewRecordedCounts(out, o.json), nil
	case o.json:
		return view.NewTraceJSON(out, r.Clock()), nil
	}
	points := r.Points()
	if selected, err := selectPoints(points, patterns); err == nil {
		points = selected
	}
	return view.NewTraceText(out, r.Clock(), points), nil
}

// eventChoice is which events of a trace are shown.
type eventChoice struct {
	selected map[*event.Point]*filter.Filter // nil without a condition
	filters  bool                            // there is a condition
}

// selectPoints is tracer.Select for the points of a trace.
func selectPoints(points []*event.Point, patterns []string) ([]*event.Point, error) {
	return selectBy(points, patterns, func(p *event.Point) event.Point { return *p })
}

// chooseEvents returns the choice of points by patterns, and of their events by a condition.
func chooseEvents(points []*event.Point, patterns []string, where string) (*eventChoice, error) {
	c := &eventChoice{selected: map[*event.Point]*filter.Filter{}, filters: where != ""}
	selected, err := selectPoints(points, patterns)
	if err != nil {
		return nil, err
	}
	var expr *filter.Expr
	if where != "" {
		if expr, err = filter.Parse(where); err != nil {
			return nil, err
		}
	}
	missing, nested := map[string]bool{}, map[string]bool{}
	found := map[string]bool{}
	for _, p := range selected {
		c.selected[p] = nil
		if expr == nil {
			continue
		}
		f, err := expr.Bind(func(name string) (event.Kind, error) {
			k, ok := kindOfName(p, name, expr.ComparesText(name))
			nested[name] = nested[name] || ok && k == event.Invalid
			found[name] = found[name] || ok && k != event.Invalid
			missing[name] = true
			return k, nil
		})
		if err != nil {
			return nil, fmt.Errorf("--where: %s: %w", p.FullName(), err)
		}
		c.selected[p] = f
	}
	for name := range missing {
		if !found[name] && nested[name] {
			return nil, term.WithHint(fmt.Errorf("--where: %s is neither a number nor a text", name), "structs, arrays and variants are printed, and not compared")
		}
		if !found[name] && len(selected) > 0 {
			return nil, term.WithHint(fmt.Errorf("--where: no marker of the trace has a field %s", name),
				"every event has comm, pid, tid, cpu and goroutine")
		}
	}
	return c, nil
}

// kindOfName returns the kind of the value with a name in the events of a point. That of an enumeration is a text
// where a condition compares it with one.
func kindOfName(p *event.Point, name string, text bool) (event.Kind, bool) {
	if i := p.Lookup(name); i >= 0 {
		if text && p.Fields[i].Type == recording.Enum {
			return event.String, true
		}
		return p.Fields[i].Kind, true
	}
	v, _ := source.Builtin(&event.Event{}, name)
	return v.Kind(), v.Kind() != event.Invalid
}

// holds reports whether the patterns select an event, and whether the condition holds of it.
func (c *eventChoice) holds(e *recording.Event) (ok, selected bool) {
	f, selected := c.selected[e.Point]
	if !selected || f == nil {
		return selected, selected
	}
	return f.Eval(func(i int) (filter.Value, bool) { return valueOfName(e, &f.Vars[i]) }), true
}

func valueOfName(e *recording.Event, variable *filter.Var) (filter.Value, bool) {
	if i := e.Point.Lookup(variable.Name); i >= 0 {
		v := &e.Values[i]
		if n := e.Nested[i]; n != nil && variable.Kind == event.String {
			return filter.Value{Text: enumLabel(n)}, true
		}
		return filter.Value{Bits: v.Bits(), Text: v.Bytes()}, v.Err() == nil && v.Kind() != event.Invalid
	}
	v, _ := source.Builtin(&e.Event, variable.Name)
	return filter.Value{Bits: v.Bits(), Text: v.Bytes()}, v.Kind() != event.Invalid
}

// enumLabel returns the first label of an enumeration's value, as reports show it; nothing for a value without.
func enumLabel(v *ctf.Value) []byte {
	if t, ok := v.Type.(*ctf.Enum); ok {
		if names := t.Names(nil, v.Bits); len(names) > 0 {
			return []byte(names[0])
		}
	}
	return nil
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
