package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

const statLong = `Count the hits of markers.

Targets: -p PID until that process ends (-p 12,34: until the last one does);
FILE in every process that maps the file, now and later; -- COMMAND from its
first instruction to its last. --follow adds children, and theirs.

Patterns are globs over provider:name, such as 'http:*' or '*:request_?'. One
without a colon matches the name in any provider. Without patterns every marker
is counted.

On a terminal the counts are shown live, once a second. -I prints the hits of
each interval, on terminals and in pipes, as perf stat -I does. A summary comes
at the end: after Ctrl-C, -d DURATION or -n COUNT hits, or with the end of the
process or the command. Every hit is counted once, and all markers begin and end
to count at the same moment.

--by groups the hits, in the kernel: by pid, tid (thread), comm (its name), cpu,
goroutine, and by fields of the markers, which waymark list shows. argN is field
N of any marker. Strings are compared by their length and first 64 bytes. Hits
without room for their group (--keys) are counted as (other), so all rows
together are always every hit. --str arg1 means that an argument of a C program
is a text, for --by and --where: see waymark trace --help.

--where counts matching hits only; the kernel evaluates it. See waymark trace
--help, also for libraries that are loaded later.

Results go to standard output, and with -- COMMAND to standard error, because
the command has standard output for itself. -o FILE writes them elsewhere, -o -
to standard output. A command that still runs after -d or -n gets SIGTERM. If it
goes on for 10 seconds, it is left running, with a warning and exit status 1.`

const statExample = `  waymark stat -p 1234               every marker of a process
  waymark stat -p 1234 'http:*'      those of one provider
  waymark stat -p 1234,1240          two processes
  waymark stat ./server 'http:*'     in all processes that run or load the file
  waymark stat 'tick:*' -- ./tick 5  while a command runs
  waymark stat -I 1000 -p 1234       a table for each second
  waymark stat --by path --top 5 -p 1234 http:request_start
                                     the five most frequent paths
  waymark stat --where 'bytes > 1000000' -p 1234 http:request_done
                                     large replies only
  waymark stat --by comm,tid ./server
                                     by threads
  waymark stat --str arg1 --by arg1 ./daemon open
                                     by text that a C program passes
  waymark stat -d 10s --json -p 1234 for programs`

type statOptions struct {
	watchFlags
	intervalFlags
	by   []string
	top  int
	keys int
}

func newStatCommand(env *term.Env) *cobra.Command {
	var o statOptions
	cmd := &cobra.Command{
		Use:     "stat [FLAGS] {-p PID | FILE} [PATTERN...]\n  waymark stat [FLAGS] [PATTERN...] -- COMMAND [ARG...]",
		Short:   "Count the hits of markers",
		Long:    statLong,
		Example: statExample,
		RunE:    attaching(env, &o),
	}
	o.watchFlags.add(cmd, "end after about `COUNT` hits")
	o.intervalFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&o.by, "by", nil, "group by `FIELD`, or several, or by pid, tid, comm, …")
	flags.IntVar(&o.top, "top", 0, "show the `N` rows with the most hits, and the rest")
	flags.IntVar(&o.keys, "keys", 16384, "with --by, room for `N` rows; the rest is (other)")
	complete(cmd, &o.watchFlags)
	return cmd
}

func (o *statOptions) check(cmd *cobra.Command, _ *session.Selection) error {
	flags := cmd.Flags()
	switch {
	case flags.Changed("top") && o.top < 1:
		return term.Usage("such as --top 10", "--top %d is no number of rows", o.top)
	case o.keys < 1 || o.keys > maxKeys:
		return term.Usage("from 1 to 1048576", "--keys %d is no number of keys", o.keys)
	case flags.Changed("keys") && len(o.by) == 0:
		return term.Usage("add --by", "--keys is about what --by tells apart")
	}
	for i, name := range o.by {
		if slices.Contains(o.by[:i], name) {
			return term.Usage("each key once", "--by names %s twice", name)
		}
	}
	if err := o.intervalFlags.check(cmd); err != nil {
		return err
	}
	return o.watchFlags.check(cmd, "hit")
}

// maxKeys is how many keys the tracer keeps.
const maxKeys = 1 << 20

func (o *statOptions) run(ctx context.Context, env *term.Env, sel *session.Selection) error {
	var counter *tracer.Counter
	var sampler view.Sampler
	return session.Run(ctx, env, sel, session.Verb{
		Out: o.out, JSON: o.json, Limit: o.duration,
		Attach: func(s *session.Session) (_ session.Attached, err error) {
			how := &tracer.CountOptions{Attach: o.how(s.Later), By: o.by, MaxKeys: o.keys}
			if counter, err = tracer.Count(s.Subject.Target(), s.Markers, how); err != nil {
				return nil, err
			}
			return counter, nil
		},
		Show: func(s *session.Session, out *term.Output, ends <-chan view.End) (view.End, error) {
			if o.count > 0 {
				ends = s.Enough(ends, func() (bool, error) {
					counts, err := counter.Read()
					return hits(counts) >= o.count, err
				})
			}
			ends = s.Stopping(ends, counter.Stop)
			total := uint64(0)
			why, err := view.Show(newStatView(o, s, sel, out), o.interval, ends, func() (*view.Sample, error) {
				counts, err := counter.Read()
				total = hits(counts)
				return sampler.Sample(s.Elapsed(), counts, view.LeftOut(counter.Skipped())), err
			})
			if err == nil {
				s.HintChildren(out, total)
			}
			return why, err
		},
	})
}

// hits returns the hits of all markers.
func hits(counts []tracer.MarkerCount) (n uint64) {
	for i := range counts {
		n += counts[i].Count
	}
	return n
}

func newStatView(o *statOptions, s *session.Session, sel *session.Selection, out *term.Output) view.View[*view.Sample] {
	table := view.StatTable{By: o.by, Top: o.top}
	plain := view.StatPlain{Out: out, Table: table, Brief: len(sel.Patterns) == 0}
	switch {
	case o.json:
		return &view.StatJSON{Out: out, Table: table}
	case o.print != 0:
		return view.NewStatIntervals(plain, s.Markers)
	case s.Command == nil && out.IsScreen():
		return view.NewStatLive(out, plain)
	}
	return &plain
}
