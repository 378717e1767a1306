package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer"
)

// completeTime bounds how long a shell waits: a program may map many files.
const completeTime = 2 * time.Second

// complete makes the shell complete names of markers, and with --by names of their fields,
// once the target is there; before, files.
func complete(cmd *cobra.Command, f *watchFlags) {
	completeMarkers(cmd, &f.pids)
	_ = cmd.RegisterFlagCompletionFunc("by", func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		names := []string{"pid", "tid", "comm", "cpu", "goroutine"}
		for _, m := range completionMarkers(cmd.Context(), f.pids, args) {
			for i := range m.Fields {
				names = append(names, m.Fields[i].Name)
			}
		}
		return startingWith(names, prefix), cobra.ShellCompDirectiveNoFileComp
	})
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
				some = append(some, s+"\t"+printable(comm))
			}
		}
		return some, cobra.ShellCompDirectiveNoFileComp
	})
}

// completionMarkers returns the markers of the target, nil when there is none yet or it
// cannot be looked at: a shell that completes has nobody to tell why.
func completionMarkers(ctx context.Context, pids []int, args []string) []*tracer.Marker {
	// Not parseSelection: while it completes, cobra ends every command line with "--".
	var t tracer.Target
	switch {
	case len(pids) > 0:
		t = tracer.PIDs(pids...).By(tracer.EngineKernel)
	case len(args) > 0 && !isPattern(args[0]):
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
		if strings.HasPrefix(name, prefix) && printable(name) == name && !slices.Contains(some, name) {
			some = append(some, name)
		}
	}
	return some
}
