package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

const recordLong = `Record the hits of markers in a trace on disk.

The trace is a directory in the Common Trace Format, with one file of events a CPU: waymark report prints
it, and babeltrace2 and Trace Compass open it. What is on disk is a valid trace at any
time, also when waymark is killed, which loses the last second, or when the disk is full, which
ends the recording. docs/record.md says what a trace holds.

Patterns, targets, --where, --str, Ctrl-C, -d and what -- COMMAND means are as with trace.
A pattern that no marker has and a tracepoint of the kernel does, such as sched:sched_switch, adds that, of all processes
and on the same clock; --kernel does so in any case. Their events are named kernel:sched:sched_switch.

Tracepoints that a Go program declares itself are recorded by its agent, beside its markers; one that is named has the
agent asked where the kernel is permitted, too.

Of several processes each is looked at by the engine that suits it, and one trace has them all.

Without -o it makes a directory waymark-DATE-TIME; one that holds something is refused.

--flight 64M starts a flight recorder in a Go program with an agent: it keeps the newest events in
shared memory that outlives the program, and waymark returns at once. waymark snapshot writes them to
disk while the program runs, waymark recover after it died; waymark sessions lists and ends it.

On a terminal a line says how it is going. Events that were lost are counted by CPU and reason,
here and in the trace.`

const recordExample = `  waymark record -p 1234 -o trace 'http:*'     some markers of a process, until Ctrl-C
  waymark record -d 10s -p 12,34               ten seconds of two processes
  waymark record -o trace -- ./server          from the first instruction on
  waymark record --flight 64M -p 1234          keep the newest events until something goes wrong
  waymark record -p 1234 'http:*' sched:sched_switch
                                               and who runs on each CPU
  waymark report trace                         print what was recorded
  babeltrace2 trace                            so does another tool`

type recordOptions struct {
	watchFlags
	count  uint64
	str    []string
	max    int
	buffer byteSize
	flight byteSize
	named  string
	kernel []string
}

func newRecordCommand(env *term.Env) *cobra.Command {
	o := recordOptions{max: 256, buffer: usualBuffer}
	cmd := &cobra.Command{
		Use:     "record [FLAGS] {-p PID | FILE} [PATTERN...]\n  waymark record [FLAGS] [PATTERN...] -- COMMAND [ARG...]",
		Short:   "Record the hits of markers in a trace on disk",
		Long:    recordLong,
		Example: recordExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := o.selection(cmd, args)
			if err != nil {
				return err
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			sel.kernel = &o.kernel
			if o.flight > 0 || o.named != "" {
				return runFlight(env, cmd, &o, sel)
			}
			return runRecord(cmd.Context(), env, &o, sel)
		},
	}
	o.add(cmd)
	flags := cmd.Flags()
	flags.Lookup("output").Usage = "write the trace to the directory `DIR`"
	flags.Lookup("json").Usage = "print the summary as JSON: docs/json.md"
	flags.Uint64VarP(&o.count, "count", "n", 0, "end after `COUNT` events")
	flags.StringSliceVar(&o.str, "str", nil, "arguments that point to text: `arg1`, or arg1:arg2 with its length")
	flags.IntVar(&o.max, "max-string", o.max, "record at most `N` bytes of a string, up to 4096")
	flags.Var(&o.buffer, "buffer", "`SIZE` of the buffer between kernel and waymark, up to 1G")
	flags.Var(&o.flight, "flight", "let the program's agent keep the newest `SIZE` of events, until it ends, and return")
	flags.StringVar(&o.named, "session", "", "what --flight is called, or without it a recording that keeps the oldest: `NAME`")
	flags.StringSliceVar(&o.kernel, "kernel", nil, "the kernel's tracepoints as well, of all processes: `GROUP:NAME`, such as sched:sched_switch")
	complete(cmd, &o.watchFlags)
	return cmd
}

func usageNoStream() error {
	return term.Usage("such as -o trace", "a trace is a directory, which standard output cannot be")
}

func (o *recordOptions) check(cmd *cobra.Command) error {
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
	t := traceOptions{watchFlags: o.watchFlags, count: o.count, str: o.str, max: o.max, buffer: o.buffer}
	err := t.check(cmd)
	o.buffer = t.buffer
	return err
}
