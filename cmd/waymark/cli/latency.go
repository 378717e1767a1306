package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer"
)

const latencyLong = `Measure the time from hits of one marker to hits of another.

A pair is a hit of BEGIN and the next one of END in the same goroutine of a Go program, or else
in the same thread. With --by it is the next one with the same value of a field, such as the
number of a request that several threads work at: --by id, or --by id=request_id where END has
another name for it. argN is the N-th field of any marker. Pairs are always of one process. When
BEGIN comes again before END, it begins anew: of nested pairs the innermost is measured.

Pairs are joined and counted in the kernel. Percentiles are within 1.6 % of what was measured,
the maximum and the mean are exact. What was in no pair is counted and said: a begin that was
still open at the end, an end whose begin was before the beginning.

--where CONDITION measures only pairs of whose BEGIN it holds; their ends, and no others, count.

Markers of libraries that are loaded later are measured, too, and with --follow those of programs that are
executed: see waymark trace --help.

Patterns, targets, Ctrl-C, -d, -o and what -- COMMAND means are as with stat. On a terminal the
histogram is shown live, once a second; with -I there is a line for each interval instead.`

const latencyExample = `  waymark latency -p 1234 http:request_start http:request_end
  waymark latency -d 10s ./server http:request_start http:request_end
  waymark latency --by id=job 'queue:put' 'queue:done' -- ./worker
  waymark latency -p "$(pgrep -o postgres)" query__start query__done
  waymark latency -I 1000 --json -p 1234 http:request_start http:request_end`

type latencyOptions struct {
	watchFlags
	intervalFlags
	by    string
	count uint64
}

func newLatencyCommand(env *Env) *cobra.Command {
	var o latencyOptions
	cmd := &cobra.Command{
		Use:     "latency [FLAGS] {-p PID | FILE} BEGIN END\n  waymark latency [FLAGS] BEGIN END -- COMMAND [ARG...]",
		Short:   "Measure the time from one marker to another",
		Long:    latencyLong,
		Example: latencyExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := len(args) - 1; n == 2 && cmd.ArgsLenAtDash() < 0 && isPattern(args[0]) && !isPattern(args[n]) {
				args = []string{args[n], args[0], args[1]} // BEGIN END FILE will do
			}
			sel, err := o.selection(cmd, args)
			if err != nil {
				return err
			}
			if err := o.check(cmd, sel); err != nil {
				return err
			}
			sel.where = "" // it is about BEGIN alone, and chooses nothing
			l := &latencyRun{o: &o, patterns: sel.patterns}
			return env.watch(cmd.Context(), &o.watchFlags, sel, watching{l.attach, l.show})
		},
	}
	o.watchFlags.add(cmd)
	o.intervalFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.by, "by", "", "join by `KEY`: goroutine, tid, a FIELD, or FIELD=FIELD of BEGIN and END")
	flags.Uint64VarP(&o.count, "count", "n", 0, "end when there are `COUNT` pairs, or a few more")
	complete(cmd, &o.watchFlags)
	return cmd
}

func (o *latencyOptions) check(cmd *cobra.Command, sel *selection) error {
	if n := len(sel.patterns); n != 2 {
		return usage("such as waymark latency -p 1234 http:request_start http:request_end",
			"latency is from one marker to another, and %s", namedText(n))
	}
	if cmd.Flags().Changed("count") && o.count == 0 {
		return usage("without -n there is no limit", "-n 0 asks for no pair at all")
	}
	if err := o.intervalFlags.check(cmd); err != nil {
		return err
	}
	return o.watchFlags.check()
}

// latencyRun is what latency does in a session.
type latencyRun struct {
	o        *latencyOptions
	patterns []string // of BEGIN and of END
	pairs    *tracer.Pairs
}

func (l *latencyRun) attach(s *session) (_ attached, err error) {
	begin, end := l.patterns[:1], l.patterns[1:]
	by, endBy, _ := strings.Cut(l.o.by, "=")
	o := &tracer.LatencyOptions{Attach: tracer.Attach{Where: l.o.where}, By: by, EndBy: endBy}
	if s.later != nil {
		later := *s.later
		later.Choose = func(m *tracer.Marker) bool {
			if matches(m, begin) && matches(m, end) {
				s.env.warning("%s in %s would begin and end pairs at once, and does neither", label(m.FullName()), label(m.File.Path))
				return false
			}
			return s.later.Choose(m)
		}
		o.Later, o.Ends = &later, func(m *tracer.Marker) bool { return matches(m, end) }
	}
	begins := matching(s.markers, begin)
	if both := matching(begins, end); len(both) > 0 {
		return nil, withHint(fmt.Errorf("%s would begin and end pairs at once", label(both[0].FullName())), "name two markers, or give patterns that have none in common")
	}
	if l.pairs, err = tracer.Latency(s.target.target(), begins, matching(s.markers, end), o); err != nil {
		return nil, err
	}
	return l.pairs, nil
}

func (l *latencyRun) show(s *session, out *output, ends <-chan end) (end, error) {
	if l.o.count > 0 {
		ends = s.enough(ends, func() (bool, error) {
			got, err := l.pairs.Read()
			return err == nil && got.Count() >= l.o.count, err
		})
	}
	view := l.view(s, out)
	last := &latencySample{all: &tracer.Latencies{}}
	tick := func(show func(*latencySample) error) error {
		all, err := l.pairs.Read()
		if err != nil {
			return err
		}
		now := &latencySample{at: time.Now(), elapsed: s.elapsed(), all: all, recent: all.Since(&last.all.Histogram)}
		now.interval = now.elapsed - last.elapsed
		last = now
		return show(now)
	}
	return everyTick(l.o.interval, ends,
		func() error { return tick(view.interval) },
		func(why end) error { return tick(func(now *latencySample) error { return view.final(now, why) }) })
}
