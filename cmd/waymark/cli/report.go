package cli

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/recording"
)

const reportLong = `Print what a trace on disk holds.

TRACE is a directory that waymark record wrote, or another trace in the Common Trace Format, such as
LTTng's; of several below it all are read, in the order of time. Lines and JSON objects are those of waymark
trace, and so are patterns and --where.

--stat prints how many events each marker has instead. --latency prints how long it took from BEGIN to END, which
are then the two patterns: a pair is of one goroutine, or else of one thread, or with --by of one value of
a field, as with waymark latency.

What is damaged is said, with file and byte, and everything that can be read is printed; the exit
status is 1 then.`

const reportExample = `  waymark report trace                          one line for each event
  waymark report trace 'http:*' --where 'status >= 500'
  waymark report trace --stat                   how many events each marker has
  waymark report trace --latency http:request_start http:request_end
  waymark report --json ~/lttng-traces/auto-20261121-100000`

type reportOptions struct {
	json, stat, latency bool
	where, by, out      string
}

func newReportCommand(env *term.Env) *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:     "report [FLAGS] TRACE [PATTERN...]",
		Short:   "Print what a trace on disk holds",
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
	flags.BoolVar(&o.stat, "stat", false, "print how many events each marker has")
	flags.BoolVar(&o.latency, "latency", false, "print how long it took from BEGIN to END, the two patterns")
	flags.StringVar(&o.by, "by", "", "with --latency, join by `KEY`: goroutine, tid, a FIELD, or FIELD=FIELD of BEGIN and END")
	flags.StringVar(&o.where, "where", "", "only events of which `CONDITION` holds: docs/filters.md")
	flags.StringVarP(&o.out, "output", "o", "", "write the results to `FILE`, - for standard output")
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
	case o.by != "" && !o.latency:
		return term.Usage("--by joins two markers", "--by without --latency")
	}
	return (&watchFlags{where: o.where}).check()
}

// reporter prints events, or what they come to.
type reporter interface {
	Recorded(*recording.Event) error
	Summary(*view.TraceSummary) error
}

// reportTrace reads a trace from its beginning to its end.
func reportTrace(ctx context.Context, e *term.Env, o *reportOptions, path string, patterns []string) error {
	r, damage := recording.Open(path)
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
		v, err := newReporter(out, o, r, patterns)
		if err == nil {
			err = printRecorded(ctx, e, r, chosen, v, &sum)
		}
		return err
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

// printRecorded prints the chosen events of a trace and their summary.
func printRecorded(ctx context.Context, e *term.Env, r *recording.Reader, chosen *eventChoice, v reporter, sum *view.TraceSummary) error {
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
	if sum.Lost = source.Total(lost); chosen.filters {
		sum.Filtered = &others
	}
	return v.Summary(sum)
}

func newReporter(out *term.Output, o *reportOptions, r *recording.Reader, patterns []string) (reporter, error) {
	switch {
	case o.latency:
		return newReportLatency(out, o, r, patterns)
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
