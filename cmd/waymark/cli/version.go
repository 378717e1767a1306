package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

func newVersionCommand(env *term.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of waymark",
		Example: "  waymark version",
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(env.Stdout, versionLine(info))
			return err
		},
	}
}

// versionLine names the version as the go command recorded it, with the commit where there
// is no version.
func versionLine(info *debug.BuildInfo) string {
	version, commit := "(unknown)", ""
	if info != nil {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " " + s.Value[:min(len(s.Value), 12)]
			}
		}
	}
	return fmt.Sprintf("waymark %s%s %s %s/%s", version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
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
