package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

const latencyLong = `Measure the time from hits of one marker to hits of another.

A pair is a hit of BEGIN and the next hit of END in the same goroutine of a Go
program, or else in the same thread. --key joins by a field instead, such as the
number of a request that several threads handle: --key id, or --key
id=request_id if END has another name for it. argN is field N of any marker. A
pair is always of one process. If BEGIN is hit again before END, the time begins
again: of nested pairs the innermost is measured.

--by FIELD groups the pairs, with a row for each value: by a field of BEGIN, or
else of END, or else by pid, tid, comm, cpu or goroutine of BEGIN. --by
path,status groups by two. Pairs without room for their group (--keys) are
counted as (other). --by does not change how pairs are joined. --str arg1 means
that an argument is a text, for --by, --key and --where: see waymark trace
--help.

Pairs are joined and counted in the kernel. Percentiles are within 1.6 % of the
measured times; the maximum and the mean are exact. Hits outside of pairs are
counted and printed: a BEGIN that was open at the end, an END whose BEGIN came
before the start.

--where CONDITION selects hits of BEGIN; only their ENDs count.

Markers of libraries that are loaded later are measured, too, and with --follow
those of programs that are executed: see waymark trace --help.

Patterns, targets, Ctrl-C, -d, -o and -- COMMAND are as with stat. On a terminal
the histogram is shown live, once a second; with -I there is a line for each
interval instead.`

const latencyExample = `  waymark latency -p 1234 http:request_start http:request_end
  waymark latency -d 10s ./server http:request_start http:request_end
  waymark latency --by path,status -p 1234 http:request_start http:request_end
                                         a row for each path and status
  waymark latency --key id=job 'queue:put' 'queue:done' -- ./worker
                                         begin and end in different threads
  waymark latency -p "$(pgrep -o postgres)" query__start query__done
  waymark latency -I 1000 --json -p 1234 http:request_start http:request_end`

type latencyOptions struct {
	watchFlags
	intervalFlags
	pairFlags
	keys int
}

func newLatencyCommand(env *term.Env) *cobra.Command {
	var o latencyOptions
	cmd := &cobra.Command{
		Use:     "latency [FLAGS] {-p PID | FILE} BEGIN END\n  waymark latency [FLAGS] BEGIN END -- COMMAND [ARG...]",
		Short:   "Measure the time from one marker to another",
		Long:    latencyLong,
		Example: latencyExample,
		RunE:    attaching(env, &o),
	}
	o.watchFlags.add(cmd, "end when there are `COUNT` pairs, or a few more")
	o.intervalFlags.add(cmd)
	o.pairFlags.add(cmd, "")
	cmd.Flags().IntVar(&o.keys, "keys", 1024, "with --by, room for `N` groups; the rest is (other)")
	complete(cmd, &o.watchFlags)
	return cmd
}

func (o *latencyOptions) selection(cmd *cobra.Command, args []string) (*session.Selection, error) {
	if n := len(args) - 1; n == 2 && cmd.ArgsLenAtDash() < 0 && session.IsPattern(args[0]) && !session.IsPattern(args[n]) {
		args = []string{args[n], args[0], args[1]} // BEGIN END FILE will do
	}
	return o.watchFlags.selection(cmd, args)
}

func (o *latencyOptions) run(ctx context.Context, env *term.Env, sel *session.Selection) error {
	sel.Where = "" // it is about BEGIN alone, and chooses nothing
	l := &latencyRun{o: o, patterns: sel.Patterns}
	return session.Run(ctx, env, sel, session.Verb{Out: o.out, JSON: o.json, Limit: o.duration, Attach: l.attach, Show: l.show})
}

func (o *latencyOptions) check(cmd *cobra.Command, sel *session.Selection) error {
	if n := len(sel.Patterns); n != 2 {
		return term.Usage("such as waymark latency -p 1234 http:request_start http:request_end",
			"latency is from one marker to another, and %s", namedText(n))
	}
	switch {
	case o.keys < 1 || o.keys > maxGroups:
		return term.Usage("from 1 to 16384", "--keys %d is no number of groups", o.keys)
	case cmd.Flags().Changed("keys") && len(o.by) == 0:
		return term.Usage("add --by", "--keys is about what --by tells apart")
	}
	if err := o.pairFlags.check(cmd); err != nil {
		return err
	}
	if err := o.intervalFlags.check(cmd); err != nil {
		return err
	}
	return o.watchFlags.check(cmd, "pair")
}

// maxGroups is how many groups the tracer keeps.
const maxGroups = 16 << 10

// latencyRun is what latency does in a session.
type latencyRun struct {
	o        *latencyOptions
	patterns []string // of BEGIN and of END
	pairs    *tracer.Pairs
}

func (l *latencyRun) attach(s *session.Session) (_ session.Attached, err error) {
	begin, end := l.patterns[:1], l.patterns[1:]
	o := &tracer.LatencyOptions{Attach: l.o.how(nil), By: l.o.by, MaxKeys: l.o.keys}
	o.Key, o.EndKey = l.o.names()
	if s.Later != nil {
		later := *s.Later
		later.Choose = func(m *tracer.Marker) bool {
			if session.Matches(m, begin) && session.Matches(m, end) {
				s.Env.Warning("%s in %s would begin and end pairs at once, and does neither", term.Label(m.FullName()), term.Label(m.File.Path))
				return false
			}
			return s.Later.Choose(m)
		}
		o.Later, o.Ends = &later, func(m *tracer.Marker) bool { return session.Matches(m, end) }
	}
	begins := session.Matching(s.Markers, begin)
	if both := session.Matching(begins, end); len(both) > 0 {
		return nil, term.WithHint(fmt.Errorf("%s would begin and end pairs at once", term.Label(both[0].FullName())), "name two markers, or give patterns that have none in common")
	}
	ends := session.Matching(s.Markers, end)
	if l.pairs, err = tracer.Latency(s.Subject.Target(), begins, ends, o); err != nil {
		return nil, err
	}
	joined, _ := l.pairs.Key()
	l.o.note(s.Env, view.MarkerPoints(begins), view.MarkerPoints(ends), joined)
	return l.pairs, nil
}

func (l *latencyRun) show(s *session.Session, out *term.Output, ends <-chan view.End) (view.End, error) {
	if l.o.count > 0 {
		ends = s.Enough(ends, func() (bool, error) {
			got, err := l.pairs.Read()
			return err == nil && got.Count() >= l.o.count, err
		})
	}
	ends = s.Stopping(ends, l.pairs.Stop)
	v := l.view(s, out)
	var sampler view.LatencySampler
	pairs := uint64(0)
	why, err := view.Show(v, l.o.interval, ends, func() (*view.LatencySample, error) {
		all, err := l.pairs.Read()
		if err != nil {
			return nil, err
		}
		pairs = all.Begins + all.Ends
		return sampler.Sample(time.Now(), s.Elapsed(), all), nil
	})
	if err == nil {
		s.HintChildren(out, pairs)
	}
	return why, err
}

func (l *latencyRun) view(s *session.Session, out *term.Output) view.View[*view.LatencySample] {
	plain := view.LatencyPlain{Out: out, Title: l.title, Table: l.o.table()}
	switch {
	case l.o.json:
		return newLatencyJSON(out, l)
	case l.o.print != 0:
		return &view.LatencyIntervals{Plain: plain}
	case s.Command == nil && out.IsScreen():
		return view.NewLatencyLive(out, plain)
	}
	return &plain
}

// title says what is measured.
func (l *latencyRun) title() string {
	from, to := l.pairs.Markers()
	if len(from)+len(to) == 0 {
		return fmt.Sprintf("%s → %s", term.Label(l.patterns[0]), term.Label(l.patterns[1]))
	}
	key, endKey := l.pairs.Key()
	if key == "tid" && l.o.key == "" {
		key, endKey = "thread", "thread"
	}
	return pairTitle(view.MarkerNames(view.MarkerPoints(from), l.patterns[0]), view.MarkerNames(view.MarkerPoints(to), l.patterns[1]), key, endKey)
}

func newLatencyJSON(out *term.Output, l *latencyRun) *view.LatencyJSON {
	return &view.LatencyJSON{Out: out, Table: l.o.table(), Object: func() view.LatencyObject {
		from, to := l.pairs.Markers()
		o := view.LatencyObject{From: view.Names(view.MarkerPoints(from)), To: view.Names(view.MarkerPoints(to))}
		o.Key, o.ToKey = l.pairs.Key()
		return o
	}}
}
