package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer"
)

const statLong = `Count how often markers are hit.

With -p PID it counts in that process until it ends (-p 12,34: in several, until the last
ends); with FILE in every process that maps
the file, now and later; with -- COMMAND from the command's first instruction to its last.
Patterns are globs over provider:name, such as 'http:*' or '*:request_?'; one without a
colon matches the name in any provider. Without patterns it is every marker.

On a terminal the counts are shown live, once a second. A summary ends it in any case: after
Ctrl-C, after -d DURATION, with the process, with the command. Every hit is counted once.

Results go to standard output. With -- COMMAND, which has standard output for itself, they
go to standard error; -o FILE writes them elsewhere, -o - to standard output after all. A
command that is still running when -d has passed is sent SIGTERM.`

const statExample = `  waymark stat -p 1234                   every marker of a process
  waymark stat -p 1234 'http:*'          those of one provider
  waymark stat -p 1234,1240              two processes
  waymark stat ./server 'http:*'         in all processes that run or load the file
  waymark stat 'tick:*' -- ./tick 5      while a command runs
  waymark stat -d 10s --json -p 1234     for programs`

type statOptions struct {
	watchFlags
	interval time.Duration
}

func newStatCommand(env *Env) *cobra.Command {
	var o statOptions
	cmd := &cobra.Command{
		Use:     "stat [FLAGS] {-p PID | FILE} [PATTERN...]\n  waymark stat [FLAGS] [PATTERN...] -- COMMAND [ARG...]",
		Short:   "Count how often markers are hit",
		Long:    statLong,
		Example: statExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := parseSelection(cmd, o.pids, args)
			if err != nil {
				return err
			}
			if err := sel.required(cmd); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return runStat(cmd.Context(), env, &o, sel)
		},
	}
	o.add(cmd)
	cmd.Flags().DurationVarP(&o.interval, "interval", "i", time.Second, "show or print the counts every `DURATION`")
	return cmd
}

// minInterval is the shortest interval: reading counts takes a system call a marker.
const minInterval = 10 * time.Millisecond

func (o *statOptions) check() error {
	if o.interval < minInterval {
		return usage("such as -i 1s", "-i %v is shorter than %v", o.interval, minInterval)
	}
	return o.watchFlags.check()
}

// sample is the state of the counters at one time.
type sample struct {
	at       time.Time
	elapsed  time.Duration // since attaching
	interval time.Duration // since the last sample
	rows     []statRow
}

type statRow struct {
	marker *tracer.Marker
	count  uint64
	delta  uint64 // since the last sample
}

// hits returns the sum of all counts.
func (s *sample) hits() uint64 {
	var n uint64
	for _, r := range s.rows {
		n += r.count
	}
	return n
}

// perSecond returns a rate.
func perSecond(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// statView shows samples.
type statView interface {
	interval(*sample) error
	final(*sample, end) error
}

func runStat(ctx context.Context, env *Env, o *statOptions, sel *selection) (err error) {
	s, err := env.openSession(ctx, sel)
	if err != nil {
		return err
	}
	out, err := env.openOutput(o.out, s.command != nil)
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	done := s.attaching()
	counter, err := tracer.Count(s.target, s.markers, nil)
	done()
	if err != nil {
		s.abandon()
		return err
	}
	defer counter.Close()
	ends, err := s.begin(ctx, o.duration, out)
	if err != nil {
		s.abandon()
		return err
	}
	why, failure := count(s, counter, newStatView(o, s, sel, out), o.interval, ends)
	counter.Close() // before the command, which may still run, sees that it is over
	status := s.finish(ctx, why)
	if failure != nil {
		return failure
	}
	return status
}

func newStatView(o *statOptions, s *session, sel *selection, out *output) statView {
	switch {
	case o.json:
		return &statJSON{out}
	case s.command == nil && isTerminal(out.to):
		return newStatLive(out, sel)
	}
	return &statPlain{out, styleFor(out.to), len(sel.patterns) == 0}
}

// count shows the counts until the session ends, and says why it did.
func count(s *session, counter *tracer.Counter, view statView, every time.Duration, ends <-chan end) (end, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	last := &sample{rows: make([]statRow, len(s.markers))}
	read := func() (*sample, error) {
		counts, err := counter.Read()
		if err != nil {
			return nil, err
		}
		now := &sample{at: time.Now(), elapsed: s.elapsed(), rows: make([]statRow, len(counts))}
		now.interval = now.elapsed - last.elapsed
		for i, c := range counts {
			now.rows[i] = statRow{c.Marker, c.Count, c.Count - last.rows[i].count}
		}
		last = now
		return now, nil
	}
	for {
		select {
		case <-tick.C:
			now, err := read()
			if err == nil {
				err = view.interval(now)
			}
			if err != nil {
				return byOutput, err
			}
		case why := <-ends:
			now, err := read()
			if err == nil {
				err = view.final(now, why)
			}
			return why, err
		}
	}
}
