package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/recording"
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

func newReportCommand(env *Env) *cobra.Command {
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
			return env.reportTrace(cmd.Context(), &o, args[0], args[1:])
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
		return usage("such as waymark report waymark-20261121-100000", "%s needs a trace", cmd.CommandPath())
	case o.stat && o.latency:
		return usage("one after the other", "--stat and --latency are two reports")
	case o.latency && len(args) != 3:
		return usage("such as waymark report trace --latency http:request_start http:request_end",
			"--latency is from one marker to another, and %s", namedText(len(args)-1))
	case o.by != "" && !o.latency:
		return usage("--by joins two markers", "--by without --latency")
	}
	return (&watchFlags{where: o.where}).check()
}

// reporter prints what events come to.
type reporter interface {
	event(*recording.Event) error
	// end is called after the last, with what the trace is said to have lost.
	end(*reportTotal) error
}

// reportTotal is what there was.
type reportTotal struct {
	events, others uint64 // of which the patterns and the condition let through
	filtered       bool
	lost           uint64        // events
	lostPackets    uint64        // their events are not in lost
	first, last    time.Duration // on the clock of the trace
	clock          source.Clock
}

func (t *reportTotal) elapsed() time.Duration { return t.last - t.first }

// reportTrace reads a trace from its beginning to its end.
func (e *Env) reportTrace(ctx context.Context, o *reportOptions, path string, patterns []string) (err error) {
	r, damage := recording.Open(path)
	if r == nil && errors.Is(damage, ctf.ErrVersion2) {
		return damage
	}
	if r == nil {
		return withHint(damage, "TRACE is a directory with a file named metadata, or with such below it, as waymark record and LTTng write them")
	}
	defer r.Close()
	damaged := damage != nil
	if damaged {
		e.printError(damage)
	}
	chosen, err := chooseEvents(r.Points(), patterns, o.where)
	if err != nil {
		return err
	}
	out, err := e.openOutput(o.out, false)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	view, err := newReporter(out, o, r, patterns)
	if err != nil {
		return err
	}
	total := reportTotal{filtered: o.where != "", clock: r.Clock()}
	for ctx.Err() == nil {
		event, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			damaged = true
			e.printError(err)
			continue
		}
		ok, selected := chosen.holds(event)
		if !selected {
			continue
		}
		if !ok {
			total.others++
			continue
		}
		if total.events++; total.events == 1 {
			total.first = event.Time
		}
		total.last = event.Time
		if err := view.event(event); err != nil {
			return err
		}
	}
	lost, err := r.Losses()
	if err != nil {
		return err
	}
	total.lost, total.lostPackets = source.Total(lost), r.LostPackets()
	if err := view.end(&total); err != nil {
		return err
	}
	if err := out.flush(); err != nil {
		return err
	}
	e.summarizeReport(&total)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case damaged:
		return statusFailure(statusError)
	}
	return nil
}

func (e *Env) summarizeReport(t *reportTotal) {
	sum := traceSummary{events: t.events, lost: t.lost, elapsed: t.elapsed()}
	others := ""
	if t.filtered {
		others = " and " + plural(t.others, "other")
	}
	lost := fmt.Sprint(sum.lost)
	if t.lostPackets > 0 {
		lost = plural(t.lost, "event") + " and " + plural(t.lostPackets, "packet")
	}
	e.message("%s%s, %s lost, in %s", plural(sum.events, "event"), others, lost, seconds(sum.elapsed))
}

// byTrace is the end of a report.
const byTrace end = "trace"

func newReporter(out *output, o *reportOptions, r *recording.Reader, patterns []string) (reporter, error) {
	switch {
	case o.latency:
		return newReportLatency(out, o, r, patterns)
	case o.stat:
		return &reportStat{out: out, json: o.json, rows: map[string]*uint64{}}, nil
	case o.json:
		return &reportJSON{newTraceJSON(out, r.Clock())}, nil
	}
	points := r.Points()
	if selected, err := selectPoints(points, patterns); err == nil {
		points = selected
	}
	return &reportText{newTraceText(out, r.Clock(), points)}, nil
}
