package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/recording"
)

const recordLong = `Record the hits of markers in a trace on disk.

The trace is a directory in the Common Trace Format, with one file of events for
each CPU: waymark report prints it, and babeltrace2 and Trace Compass open it.
It is a valid trace at any time, also when waymark is killed, which loses the
last second, or when the disk is full, which ends the recording. See
docs/record.md.

Patterns, targets, --where, --str, Ctrl-C, -d and -- COMMAND are as with trace.
A pattern that matches no marker but a tracepoint of the kernel, such as
sched:sched_switch, records that, of all processes and on the same clock;
--kernel does so in any case. Their events are named kernel:sched:sched_switch.

The agent of a Go program records the program's own tracepoints beside its
markers. If a pattern names one, the agent is asked even where tracing through
the kernel is permitted.

Of several processes each is recorded by the engine that suits it, all in one
trace.

Without -o the directory is waymark-DATE-TIME. A directory that is not empty is
refused.

--flight 64M starts a flight recorder in a Go program with an agent: it keeps
the newest events in shared memory that outlives the program, and waymark
returns at once. waymark snapshot writes them to disk while the program runs,
waymark recover after it died; waymark sessions lists and ends it.

On a terminal a line shows the progress. Lost events are counted by CPU and
reason, on the terminal and in the trace.`

const recordExample = `  waymark record -p 1234 -o trace 'http:*'     some markers of a process
  waymark record -d 10s -p 12,34               ten seconds of two processes
  waymark record -o trace -- ./server          from the first instruction on
  waymark record --flight 64M -p 1234          keep the newest events
  waymark record -p 1234 'http:*' sched:sched_switch
                                               and who runs on each CPU
  waymark report trace                         print what was recorded
  babeltrace2 trace                            so does another tool`

type recordOptions struct {
	traceOptions
	flight byteSize
	named  string
	kernel []string
}

func newRecordCommand(env *term.Env) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:     "record [FLAGS] {-p PID | FILE} [PATTERN...]\n  waymark record [FLAGS] [PATTERN...] -- COMMAND [ARG...]",
		Short:   "Record the hits of markers in a trace on disk",
		Long:    recordLong,
		Example: recordExample,
		RunE:    attaching(env, &o),
	}
	o.add(cmd, "record")
	flags := cmd.Flags()
	flags.Lookup("output").Usage = "write the trace to the directory `DIR`"
	flags.Lookup("json").Usage = "print the summary as JSON: docs/json.md"
	flags.Var(&o.flight, "flight", "let the agent keep the newest `SIZE` of events, and return")
	flags.StringVar(&o.named, "session", "", "`NAME` of the --flight, or of one that keeps the oldest events")
	flags.StringSliceVar(&o.kernel, "kernel", nil, "tracepoints of the kernel, of all processes: `GROUP:NAME`")
	complete(cmd, &o.watchFlags)
	return cmd
}

func usageNoStream() error {
	return term.Usage("such as -o trace", "a trace is a directory, which standard output cannot be")
}

func (o *recordOptions) check(cmd *cobra.Command, sel *session.Selection) error {
	if o.out == "-" {
		return usageNoStream()
	}
	for _, name := range o.kernel {
		if !strings.Contains(name, ":") {
			return term.Usage("such as --kernel sched:sched_switch; ls /sys/kernel/tracing/events shows the groups", "--kernel takes GROUP:NAME, not %q", name)
		}
	}
	if o.out == "" {
		o.out = time.Now().Format("waymark-20060102-150405")
	}
	sel.Kernel = &o.kernel
	if err := o.traceOptions.check(cmd, sel); err != nil || !o.inProgram() {
		return err
	}
	for _, name := range []string{"output", "duration", "count", "str", "buffer", "json", "kernel"} {
		if cmd.Flags().Changed(name) {
			return term.Usage("waymark snapshot and waymark recover write it to disk", "--%s is of a recording that waymark makes, and --flight and --session are made by the program", name)
		}
	}
	if sel.OnlyPID() == 0 || o.follow || o.engine == session.EngineKernel {
		return term.Usage("such as waymark record --flight 64M -p 1234", "--flight and --session are for the agent of one process")
	}
	return nil
}

// inProgram reports whether the agent in the program records, without waymark.
func (o *recordOptions) inProgram() bool { return o.flight > 0 || o.named != "" }

// startFlight starts a recording in a program.
func (o *recordOptions) startFlight(env *term.Env, sel *session.Selection) error {
	pid := sel.OnlyPID()
	a, err := client.Dial(pid)
	if err != nil {
		return err
	}
	defer a.Close()
	s, err := a.StartSession(&client.SessionOptions{
		Name: cmp.Or(o.named, "flight"), Patterns: sel.Patterns, Flight: o.flight > 0, Size: int64(o.flight), Where: o.where, MaxString: o.max,
	})
	if err != nil {
		return err
	}
	env.Message("process %d records %s as %s, in %s", pid, term.Plural(s.Markers, "marker"), s.Name, view.BytesText(uint64(s.Size)))
	env.Hint("waymark snapshot -p %d %s writes it to disk, waymark recover -p %d %s when the program is dead", pid, s.Name, pid, s.Name)
	return nil
}

// missingDirectory returns the first directory on the way to path that is not there, "" when path is there.
func missingDirectory(path string) (missing string) {
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = path
	}
}

// removeEmpty removes path and the directories on the way to it, from missing on, as long as they are empty.
func removeEmpty(path, missing string) {
	if missing == "" {
		return
	}
	for path = filepath.Clean(path); os.Remove(path) == nil && path != missing; {
		path = filepath.Dir(path)
	}
}

// recorder is one recording.
type recorder struct {
	*recordOptions
	s       *session.Session
	trace   *recording.Writer
	view    *view.RecordView
	tracers []*tracer.Tracer
	missing string // the first directory on the way to the trace that was not there, "" for none
	begun   bool
	summary func(*term.Output) error
}

func (o *recordOptions) run(ctx context.Context, env *term.Env, sel *session.Selection) error {
	if o.inProgram() {
		return o.startFlight(env, sel)
	}
	r := &recorder{recordOptions: o}
	return session.Run(ctx, env, sel, session.Verb{Limit: o.duration, Attach: r.attach, Show: r.show, Summary: func(out *term.Output) error { return r.summary(out) }})
}

func (r *recorder) attach(s *session.Session) (_ session.Attached, err error) {
	r.s, r.view = s, &view.RecordView{Env: s.Env, JSON: r.json, Dir: r.out}
	r.missing = missingDirectory(r.out)
	r.trace, err = recording.Create(r.out, &recording.Options{
		Env: s.Circumstances(), Count: r.count,
		Progress: func(sum recording.Summary) { r.view.Progress(&sum, s.Elapsed()) },
	})
	if err != nil {
		removeEmpty(r.out, r.missing)
		return nil, explain.Directory(r.out, err)
	}
	how := &tracer.TraceOptions{Attach: r.how(nil), MaxString: r.max} // Later is that of each source
	how.BufferSize = int(r.buffer)
	if r.tracers, err = s.Sources(how, r.kernel); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close detaches. The trace of a recording that never began is removed: it would be in the way of the next attempt.
func (r *recorder) Close() error {
	for _, t := range r.tracers {
		t.Close()
	}
	if !r.begun && r.trace.Discard() == nil {
		removeEmpty(r.out, r.missing)
	}
	r.begun = true
	return nil
}

// Ended is closed when the processes that the first engine follows have ended.
func (r *recorder) Ended() <-chan struct{} { return r.tracers[0].Ended() }

// Missing returns the error of a name that no marker has.
func (r *recorder) Missing() error { return r.tracers[0].Missing() }

// Skipped returns the sites that no tracer has.
func (r *recorder) Skipped() (all []*tracer.SiteError) {
	for _, t := range r.tracers {
		all = append(all, t.Skipped()...)
	}
	return all
}

func (r *recorder) show(s *session.Session, _ *term.Output, ends <-chan view.End) (view.End, error) {
	r.begun = true
	sum, why, err := r.record(ends)
	s.Env.Status("")
	var problems []error
	for _, t := range r.tracers {
		problems = append(problems, t.Problems()...)
	}
	elapsed := s.Elapsed()
	r.summary = func(out *term.Output) error {
		err := r.view.Summary(out, &sum, elapsed, why, problems)
		s.HintChildren(out, sum.Saved())
		return err
	}
	return why, explain.Disk(err)
}

// record records until the session ends, and then all events that were collected before.
func (r *recorder) record(ends <-chan view.End) (sum recording.Summary, why view.End, err error) {
	var sources []source.Source
	for _, t := range r.tracers {
		sources = append(sources, t)
	}
	ctx, cancel := context.WithCancel(context.Background()) // not the command's: the session ends after its command
	defer cancel()
	var ended view.End
	go func() {
		select {
		case ended = <-ends:
			cancel()
		case <-ctx.Done():
		}
	}()
	sum, err = r.trace.Record(ctx, sources...)
	switch {
	case errors.Is(err, ctf.ErrStopped):
		why = view.ByDisk
	case sum.End == recording.EndContext:
		why = ended
	case sum.End == recording.EndCount:
		why = view.ByCount
	case sum.End == recording.EndSources:
		<-ctx.Done() // the session ends with them
		why = ended
	default:
		why = view.ByError
	}
	return sum, why, err
}
