package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/session"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer"
)

// watchFlags are what stat and trace have in common.
type watchFlags struct {
	pids     []int
	follow   bool
	duration time.Duration
	json     bool
	out      string
	where    string
	vars     []string
	str      []string
	engine   session.Engine
	count    uint64
}

// add defines the flags; counted is the usage of -n.
func (f *watchFlags) add(cmd *cobra.Command, counted string) {
	flags := cmd.Flags()
	flags.Uint64VarP(&f.count, "count", "n", 0, counted)
	flags.IntSliceVarP(&f.pids, "pid", "p", nil, "process `PID`, or several (12,34), until they end")
	flags.BoolVar(&f.follow, "follow", false, "children too, and all that they execute and load")
	flags.DurationVarP(&f.duration, "duration", "d", 0, "end after `DURATION`, such as 10s or 2m")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a line: docs/json.md")
	flags.StringVarP(&f.out, "output", "o", "", "write to `FILE`, - for standard output")
	flags.StringVar(&f.where, "where", "", "only matching hits: `CONDITION`, see docs/filters.md")
	flags.StringSliceVar(&f.vars, "vars", nil, "more variables of simple markers: `LIST`")
	flags.StringSliceVar(&f.str, "str", nil, "arguments that are texts: `ARG`, or ARG:LENGTH")
	flags.Var(&f.engine, "engine", session.EngineUsage)
}

// atMostOne refuses more than one argument.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return term.Usage(cmd.CommandPath()+" --help shows how", "%s takes one name at most, and %q is another", cmd.CommandPath(), args[1])
	}
	return nil
}

func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return term.Usage(cmd.CommandPath()+" --help shows how", "%s takes no arguments, not %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// attacher is the options of a verb that attaches to a target.
type attacher interface {
	selection(*cobra.Command, []string) (*session.Selection, error)
	check(*cobra.Command, *session.Selection) error
	run(context.Context, *term.Env, *session.Selection) error
}

// attaching returns the function of such a verb.
func attaching(env *term.Env, o attacher) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		sel, err := o.selection(cmd, args)
		if err == nil {
			err = o.check(cmd, sel)
		}
		if err == nil {
			err = o.run(cmd.Context(), env, sel)
		}
		return err
	}
}

// selection is what the command line names, which must be something.
func (f *watchFlags) selection(cmd *cobra.Command, args []string) (*session.Selection, error) {
	sel, err := session.Parse(cmd, f.pids, args)
	if err == nil {
		err = sel.Required(cmd)
	}
	if err == nil && f.follow {
		err = sel.Follow()
	}
	if err == nil {
		sel.Engine = f.engine
		if f.engine == session.EngineAgent && sel.Subject.Path != "" {
			err = term.Usage("give its processes: -p PID or several, or -- COMMAND", "an agent is that of a process, and %s is a FILE", sel.Subject.Path)
		}
	}
	if err == nil && len(f.vars) == 0 { // which has variables that are no fields
		sel.Where = f.where
	}
	return sel, err
}

// check refuses values that make no sense; counted is what -n counts.
func (f *watchFlags) check(cmd *cobra.Command, counted string) error {
	if cmd.Flags().Changed("count") && f.count == 0 {
		return term.Usage("without -n there is no limit", "-n 0 asks for no %s at all", counted)
	}
	for _, arg := range f.str {
		if _, err := strconv.Atoi(arg); err == nil {
			hint := "such as --str arg1"
			if cmd.Flags().Lookup("max-string") != nil {
				hint = "--max-string " + arg + " limits the length of strings"
			}
			return term.Usage(hint, "--str %s is no argument", arg)
		}
	}
	if err := checkDuration(f.duration); err != nil {
		return err
	}
	return checkWhere(f.where)
}

// how returns how to attach: Later is the session's.
func (f *watchFlags) how(later *tracer.Later) tracer.Attach {
	return tracer.Attach{Where: f.where, Vars: f.vars, Strings: f.str, Later: later}
}

func checkDuration(d time.Duration) error {
	if d < 0 {
		return term.Usage("such as -d 10s", "-d %v is not a duration to wait for", d)
	}
	return nil
}

func checkWhere(where string) error {
	if _, err := tracer.CheckWhere(where, nil); err != nil {
		text, hint := explain.Error(err)
		return term.Usage(hint, "%s", text)
	}
	return nil
}

// byteSize is a flag's value in bytes: 4096, 64K, 16MB, 1GiB; K is 1024.
type byteSize int

func (s *byteSize) Type() string { return "SIZE" }

func (s *byteSize) String() string {
	if *s == 0 {
		return "" // so that the help shows no default
	}
	return strconv.Itoa(int(*s))
}

// maxSize bounds a byteSize: 1 GiB.
const maxSize = 1 << 30

func (s *byteSize) Set(text string) error {
	digits, shift := strings.ToUpper(text), 0
	digits = strings.TrimSuffix(digits, "B")
	for i, unit := range []string{"K", "M", "G"} {
		if rest, ok := strings.CutSuffix(strings.TrimSuffix(digits, "I"), unit); ok {
			digits, shift = rest, 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n == 0 || n > maxSize>>shift {
		return fmt.Errorf("a size is a number from 1 to 1G, with K, M or G after it if you like: 64M, 64MB and 64MiB are the same")
	}
	*s = byteSize(n << shift)
	return nil
}

// intervalFlags are -i and -I of stat and latency.
type intervalFlags struct {
	interval time.Duration
	print    milliseconds // -I, 0 when it is not given
}

func (f *intervalFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVarP(&f.interval, "interval", "i", time.Second, "with a terminal or --json: show totals every `DURATION`")
	flags.VarP(&f.print, "print", "I", "print the hits of every `MS` milliseconds, or 1s")
}

func (f *intervalFlags) check(cmd *cobra.Command) error {
	flags := cmd.Flags()
	if flags.Changed("print") {
		if flags.Changed("interval") {
			return term.Usage("-I prints every interval, -i shows them in place", "-i and -I are two intervals")
		}
		f.interval = time.Duration(f.print)
	}
	if f.interval < session.MinInterval {
		return term.Usage("such as -i 1s or -I 1000", "an interval of %v is shorter than %v", f.interval, session.MinInterval)
	}
	return nil
}

// milliseconds is a flag's value as perf stat -I has it, 1000, or a duration, 1s.
type milliseconds time.Duration

func (m *milliseconds) Type() string { return "MS" }

func (m *milliseconds) String() string {
	if *m == 0 {
		return "" // so that the help shows no default
	}
	return time.Duration(*m).String()
}

func (m *milliseconds) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, e := strconv.ParseUint(text, 10, 31); e == nil {
		d, err = time.Duration(n)*time.Millisecond, nil
	}
	if err != nil || d <= 0 {
		return fmt.Errorf("an interval is a number of milliseconds, or a duration such as 1s")
	}
	*m = milliseconds(d)
	return nil
}

// namedText says how many names there are, where it is not as many as there must be.
func namedText(n int) string {
	switch n {
	case 0:
		return "none is named"
	case 1:
		return "only one is named"
	}
	return fmt.Sprintf("%d are named", n)
}

// completeTime bounds how long a shell waits: a program may map many files.
const completeTime = 2 * time.Second

// complete makes the shell complete names of markers, and with --by and --key names of their fields,
// once the target is there; before, files.
func complete(cmd *cobra.Command, f *watchFlags) {
	completeMarkers(cmd, &f.pids)
	for _, flag := range []string{"by", "key"} {
		if cmd.Flags().Lookup(flag) == nil {
			continue
		}
		_ = cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			names := []string{"pid", "tid", "comm", "cpu", "goroutine"}
			for _, m := range completionMarkers(cmd.Context(), f.pids, args) {
				for i := range m.Fields {
					names = append(names, m.Fields[i].Name)
				}
			}
			return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
		})
	}
}

// completeMarkers makes the shell complete names of markers that are not named yet.
func completeMarkers(cmd *cobra.Command, pids *[]int) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		markers := completionMarkers(cmd.Context(), *pids, args)
		if markers == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var names []string
		for _, m := range markers {
			if name := m.FullName(); !slices.Contains(args, name) {
				names = append(names, name)
			}
		}
		return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeNames makes the shell complete names.
func completeNames(cmd *cobra.Command, names func() []string) {
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return startingWith(names(), prefix), cobra.ShellCompDirectiveNoFileComp
	}
}

// completePIDs makes the shell complete -p by what runs, with the names of the processes.
func completePIDs(cmd *cobra.Command) {
	if cmd.Flags().Lookup("pid") == nil {
		return
	}
	_ = cmd.RegisterFlagCompletionFunc("pid", func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		pids, _ := procfs.PIDs() // a shell that completes has nobody to tell why
		var some []string
		for _, pid := range pids {
			if s := strconv.Itoa(pid); strings.HasPrefix(s, prefix) {
				comm, _ := procfs.Comm(pid)
				some = append(some, s+"\t"+term.Printable(comm))
			}
		}
		return some, cobra.ShellCompDirectiveNoFileComp
	})
}

// completionMarkers returns the markers of the target, nil when there is none yet or it
// cannot be looked at: a shell that completes has nobody to tell why.
func completionMarkers(ctx context.Context, pids []int, args []string) []*tracer.Marker {
	// Not Parse: while it completes, cobra ends every command line with "--".
	var t tracer.Target
	switch {
	case len(pids) > 0:
		t = tracer.PIDs(pids...).By(tracer.EngineKernel)
	case len(args) > 0 && !session.IsPattern(args[0]):
		t = tracer.Path(args[0])
	default:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completeTime)
	defer cancel()
	markers, _ := tracer.FindNames(ctx, t)
	return markers
}

// startingWith returns the names that start with a prefix, each once and as a terminal can
// print it.
func startingWith(names []string, prefix string) []string {
	var some []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && term.Printable(name) == name && !slices.Contains(some, name) {
			some = append(some, name)
		}
	}
	return some
}
