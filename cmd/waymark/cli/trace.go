package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
)

const traceLong = `Print one line for each hit of a marker.

A line has the time, the process, the goroutine (g18) of a Go program or else
the thread (t1234), the marker and its fields, as in path="/x" attempt=1. Values
are printed by the marker's format: %x as 0x2a, %p as an address, %c as a
character, %s in quotes, %x of a string or []byte as its bytes. A string that
was cut ends in …+44, the number of missing bytes. A value that could not be
read is <unavailable>.

Targets: -p PID until that process ends (-p 12,34: several); FILE in every
process that maps the file, now and later; -- COMMAND from its first instruction
to its last. --follow adds children, and theirs; the end of COMMAND ends it.

Libraries that are loaded later are traced, too. With -- COMMAND and --follow
none of their hits is missed, nor of programs that are executed: the process is
held until waymark has attached, some milliseconds, which no parent or shell can
see. One that a debugger traces waits two seconds at most. waymark reports when
hits count only from later on. With -p alone no process is held, and hits in
these milliseconds are missed.

A FILE that is replaced by another, or changed on overlayfs, is named in a
warning: processes that run the new one are not traced.

A site that the kernel refuses, or where a probe could overwrite variables of
the program, is left out with a warning, and so is a file that cannot be opened
any more. If no site is left, that is an error.

Patterns are globs over provider:name, such as 'http:*'. One without a colon
matches the name in any provider. Without patterns every marker is traced.

--where CONDITION selects hits. The kernel evaluates it, so other hits take no
room in the buffer. It compares fields, by the names of waymark list or as arg1,
arg2…, and comm, pid, tid, cpu and goroutine: == != < <= > >= for numbers, ==
and ~ for text, where ~ takes a pattern with * and ?; && || ! ( ), and + - &
between numbers. Comparisons with unreadable values are false. Markers without
the fields are left out; if a pattern without * names one, that is an error. See
docs/filters.md.

Markers of C programs describe a string only as a number. waymark knows the
arguments of PostgreSQL, Python, Ruby, PHP, HotSpot, libstdc++, libvirt and
others by name and type. For the rest, --str arg1 means that arg1 points to text
that ends with a NUL, and --str arg1:arg2 that arg2 is its length.

Simple markers have variables. <optimized out> is one that the compiler does not
keep at that location. --vars 'req.Method,cmd->len' reads others that are in
scope there, and members of them; waymark list --simple -v shows them. See
docs/simple.md.

Lines are in the order of time. For that an event waits for 10 ms, because one
of another CPU may come late. Later ones are printed at once, and counted as out
of order.

Ctrl-C, -d, -n, and the end of the process or the command end the trace, with a
summary on standard error. It counts events that came faster than they could be
printed as lost. Events wait in a buffer in the kernel (--buffer): 16 MiB hold
about 150000 events without text; a busy program makes them in 50 ms on one CPU.

Events go to standard output, and with -- COMMAND to standard error, because the
command has standard output for itself. -o FILE writes them elsewhere, -o - to
standard output. A command that still runs after -d or -n gets SIGTERM. If it
goes on for 10 seconds, it is left running, with a warning and exit status 1.`

const traceExample = `  waymark trace -p 1234 http:request_start      one marker of a process
  waymark trace -n 10 ./server                  ten events of any process
  waymark trace --where 'path ~ "/api/*"' -p 1234 http:request_start
                                                only some of them
  waymark trace --where 'arg1 > 5' ./tick       every process that runs the file
  waymark trace --str arg1 ./daemon open        text that a C program passes
  waymark trace --vars 'cmd->len' ./scsi_mod queuecommand
                                                another variable
  waymark trace -o events.txt -- ./tick 5       from the first instruction on
  waymark trace --follow 'db:*' -- make test    whatever the command runs
  waymark trace --json -d 10s -p 1234 'http:*'  for programs`

type traceOptions struct {
	watchFlags
	max    int
	buffer byteSize
	own    bool
}

func newTraceCommand(env *term.Env) *cobra.Command {
	var o traceOptions
	cmd := &cobra.Command{
		Use:     "trace [FLAGS] {-p PID | FILE} [PATTERN...]\n  waymark trace [FLAGS] [PATTERN...] -- COMMAND [ARG...]",
		Short:   "Print one line for each hit of a marker",
		Long:    traceLong,
		Example: traceExample,
		RunE:    attaching(env, &o),
	}
	o.add(cmd, "print")
	cmd.Flags().BoolVarP(&o.own, "verbose", "v", false, "show PIDs in containers, too: [1234/7]")
	complete(cmd, &o.watchFlags)
	return cmd
}

// add defines the flags of trace and record, which do something with a string.
func (o *traceOptions) add(cmd *cobra.Command, do string) {
	o.watchFlags.add(cmd, "end after `COUNT` events")
	o.max, o.buffer = 256, session.UsualBuffer
	flags := cmd.Flags()
	flags.IntVar(&o.max, "max-string", o.max, do+" at most `N` bytes of a string, up to 4096")
	flags.Var(&o.buffer, "buffer", "`SIZE` of the buffer in the kernel, up to 1G")
}

// maxString is how much of a string an event can carry.
const maxString = 4096

func (o *traceOptions) check(cmd *cobra.Command, _ *session.Selection) error {
	if !cmd.Flags().Changed("buffer") {
		o.buffer = 0 // or less: NoteBuffer
	}
	if o.max < 1 || o.max > maxString {
		return term.Usage("from 1 to 4096", "--max-string %d is no number of bytes that an event can carry", o.max)
	}
	return o.watchFlags.check(cmd, "event")
}

func (o *traceOptions) run(ctx context.Context, env *term.Env, sel *session.Selection) error {
	var events *tracer.Tracer
	return session.Run(ctx, env, sel, session.Verb{
		Out: o.out, JSON: o.json, Limit: o.duration,
		Attach: func(s *session.Session) (_ session.Attached, err error) {
			how := &tracer.TraceOptions{Attach: o.how(s.Later), MaxString: o.max, OwnPIDs: o.own || o.json}
			how.BufferSize = int(o.buffer)
			if events, err = tracer.Trace(s.Subject.Target(), s.Markers, how); err != nil {
				return nil, err
			}
			s.NoteBuffer(events, int(o.buffer))
			return events, nil
		},
		Show: func(s *session.Session, out *term.Output, ends <-chan view.End) (view.End, error) {
			var v view.TraceView = view.NewTraceText(out, events.Clock(), view.MarkerPoints(s.Markers))
			if o.json {
				v = view.NewTraceJSON(out, events.Clock())
			}
			sum, err := follow(s, events, v, o.count, ends)
			if n, e := events.Filtered(); o.where != "" && e == nil {
				sum.Filtered = &n
			} else if o.where != "" && err == nil {
				err = e
			}
			if err == nil {
				err = v.Summary(sum)
			}
			if err == nil {
				err = out.Flush() // events before their summary
			}
			if !term.IsBrokenPipe(err) {
				summarize(env, sum)
				s.HintChildren(out, sum.Events)
			}
			return sum.End, err
		},
	})
}

// follow prints events until limit of them are (0 for no limit) or the session ends, and says how
// it went, after an error too.
func follow(s *session.Session, events *tracer.Tracer, v view.TraceView, limit uint64, ends <-chan view.End) (*view.TraceSummary, error) {
	sum := &view.TraceSummary{}
	err := printEvents(events, v, limit, ends, sum)
	sum.Elapsed = s.Elapsed()
	if e := events.Stop(); err == nil {
		err = e
	}
	sum.Problems, sum.Late = events.Problems(), events.Late()
	losses, e := events.Losses()
	if sum.Lost, sum.Unread = source.Total(losses), e != nil; err == nil {
		err = e
	}
	return sum, err
}

// printEvents is follow without its end. What was collected before the end is printed too.
func printEvents(events *tracer.Tracer, v view.TraceView, limit uint64, ends <-chan view.End, sum *view.TraceSummary) error {
	type stop struct {
		why view.End
		err error
	}
	stopped, over := make(chan stop, 1), make(chan struct{})
	defer close(over)
	go func() {
		select {
		case why := <-ends:
			stopped <- stop{why, events.Stop()}
		case <-over:
		}
	}()
	var e event.Event
	for limit == 0 || sum.Events < limit {
		err := events.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			st := <-stopped
			sum.End = st.why
			return st.err
		}
		if err == nil {
			err = v.Event(&e)
		}
		if err != nil {
			sum.End = view.ByOutput
			return err
		}
		sum.Events++
	}
	sum.End = view.ByCount
	return nil
}

// summarize says how it went.
func summarize(e *term.Env, sum *view.TraceSummary) {
	sum.Print(e)
	view.WarnLost(e, sum.Problems)
	if sum.Lost > 0 && len(sum.Problems) == 0 {
		e.Hint("a larger --buffer, fewer markers or a shorter --max-string lose fewer")
	}
}
