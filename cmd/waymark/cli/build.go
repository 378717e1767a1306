package cli

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-trace/waymark/tracer/link"
)

const buildLong = `Build a Go program and link its markers: go build, then waymark link.

Flags and packages are passed to go build as they are. Two more flags are those of waymark
link: --optimize makes sites read no memory while off, and --no-watch then leaves out the
goroutine that looks for kernel tracers. -o DIR/ takes several packages. go build chooses the
name unless -o does. An unlinked program never appears under that name: when something goes
wrong, what was there before stays.`

const buildExample = `  waymark build ./cmd/server                         ./server
  waymark build -o bin/ ./cmd/server                 bin/server
  waymark build --optimize ./cmd/server              and sites that read no memory
  waymark build -race -tags prod -ldflags=-s -o app .`

func newBuildCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:                "build [--optimize] [-o OUTPUT] [go build flags] [package or files]",
		Short:              "go build, with markers that every tracer sees",
		Long:               buildLong,
		Example:            buildExample,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			line, err := parseBuild(args)
			if err != nil {
				return err
			}
			if line.help {
				return cmd.Help()
			}
			return runBuild(cmd.Context(), env, line)
		},
	}
}

func runBuild(ctx context.Context, env *Env, line *buildLine) error {
	if line.out == os.DevNull {
		return goRun(ctx, env, line.build(line.out)) // nothing is left to be linked
	}
	dir, name, err := line.output()
	if err != nil {
		return err
	}
	// Beside the result, so that the last step is a rename.
	temp, err := os.MkdirTemp(dir, ".waymark-build-*")
	if err == nil {
		defer os.RemoveAll(temp)
		temp, err = filepath.Abs(temp)
	}
	if err != nil {
		return fmt.Errorf("making room for the build: %w", err)
	}
	// Sources younger than this are not those of the program.
	line.link.Built = time.Now()
	if err := goRun(ctx, env, line.build(temp+string(filepath.Separator)+name)); err != nil {
		return err
	}
	built, err := os.ReadDir(temp) // nothing after -n
	if err != nil {
		return err
	}
	if len(built) > 1 && line.out == "" {
		return withHint(fmt.Errorf("%d programs were built, and -o names no directory for them", len(built)), "waymark build -o bin/ …")
	}
	if line.link.Overlay, err = line.replaced(); err != nil {
		return err
	}
	if line.dir != "" {
		line.link.Sources = []string{line.dir}
	}
	var failed []error
	for _, file := range built {
		failed = append(failed, line.linkBuilt(ctx, env, filepath.Join(temp, file.Name()), filepath.Join(dir, file.Name())))
	}
	return errors.Join(failed...)
}

// linkBuilt links a program that go build has written, and gives it its name. A header for a
// library gets its name only.
func (l *buildLine) linkBuilt(ctx context.Context, env *Env, built, final string) error {
	if filepath.Ext(final) == ".h" {
		return os.Rename(built, final)
	}
	if err := checkReplaceable(final); err != nil {
		return err
	}
	o := l.link
	o.Simple = l.usesSimple(ctx, built)
	report, err := linkFile(built, final, o)
	if err != nil {
		// The temporary name would mean nothing to the reader.
		return fmt.Errorf("linking %s: %w", final, unwrapOnce(err))
	}
	return env.printReport(env.Stderr, report, final, false)
}

// usesSimple reports whether a program was built with package simple. The package leaves no trace
// in the program's code.
func (l *buildLine) usesSimple(ctx context.Context, program string) bool {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return false
	}
	args := append(l.goArgs("list"), "-deps")
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			args = append(args, "-tags="+s.Value)
		}
	}
	out, err := goCommand(ctx, append(args, "--", info.Path)).Output()
	return err == nil && slices.Contains(strings.Split(string(out), "\n"), link.SimplePackage)
}

// unwrapOnce returns what err wraps, or err.
func unwrapOnce(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// goRun runs the go command, which prints its own errors.
func goRun(ctx context.Context, env *Env, args []string) error {
	cmd := goCommand(ctx, args)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.Stdin, env.Stdout, env.Stderr
	return goResult(ctx, cmd.Run())
}

func goCommand(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	// It cleans up after itself. One that does not end is ended by a second Ctrl-C.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd
}

func goResult(ctx context.Context, err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return statusFailure(statusError)
	case errors.Is(err, exec.ErrNotFound):
		return withHint(errors.New("the go command is not in PATH"), "https://go.dev/dl has it; waymark link takes a program that was built elsewhere")
	}
	return fmt.Errorf("running go: %w", err)
}
