package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const buildLong = `Build a Go program and link its markers: go build, then waymark link.

Flags and packages are those of go build, and two more are those of waymark link: --optimize
makes sites read no memory while off, --no-watch leaves out the goroutine that looks for
kernel tracers then. The result is named as go build names it, and -o
says otherwise. An unlinked program never appears under that name: when something goes
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
	if line.dryRun || line.out == os.DevNull {
		return line.run(ctx, env, line.args(line.out)) // nothing is left to be linked
	}
	name, err := line.program(ctx, env)
	if err != nil {
		return err
	}
	final, err := line.output(name)
	if err != nil {
		return err
	}
	// Beside the result, so that the last step is a rename.
	dir, err := os.MkdirTemp(filepath.Dir(final), ".waymark-build-*")
	if err != nil {
		return fmt.Errorf("making room for the build: %w", err)
	}
	defer os.RemoveAll(dir)
	built, err := filepath.Abs(filepath.Join(dir, filepath.Base(final)))
	if err != nil {
		return err
	}
	// What is younger than this is not what the program is built from.
	line.link.Built = time.Now()
	if err := line.run(ctx, env, line.args(built)); err != nil {
		return err
	}
	if line.link.Overlay, err = line.overlay(); err != nil {
		return err
	}
	if line.dir != "" {
		line.link.Sources = []string{line.dir}
	}
	report, err := linkFile(built, final, line.link)
	if err != nil {
		// The name it has until it is linked means nothing to anybody.
		return fmt.Errorf("linking %s: %w", final, unwrapOnce(err))
	}
	return env.printReport(env.Stderr, report, final, false)
}

// unwrapOnce returns what err wraps, or err.
func unwrapOnce(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// run runs the go command, which says itself what is wrong.
func (l *buildLine) run(ctx context.Context, env *Env, args []string) error {
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

// program returns the name that go build would give the one program of the line.
func (l *buildLine) program(ctx context.Context, env *Env) (string, error) {
	cmd := goCommand(ctx, l.listArgs())
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := goResult(ctx, cmd.Run()); err != nil {
		// go build says what is wrong with its own command line in its own words.
		if err := l.run(ctx, env, l.args(os.DevNull)); err != nil {
			return "", err
		}
		fmt.Fprint(env.Stderr, complaint.String())
		return "", err
	}
	packages := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(packages) != 1 {
		return "", withHint(fmt.Errorf("%d packages are named, and build builds one program", len(packages)),
			"go build -o bin/ %s && waymark link bin/*", strings.Join(l.packages, " "))
	}
	path, simple := strings.CutPrefix(packages[0], usesSimple)
	l.link.Simple = simple
	path, name, _ := strings.Cut(path, "\t")
	if name != "main" {
		return "", withHint(fmt.Errorf("%s is package %s, not a program", path, name), "name the directory of a package main, such as ./cmd/server")
	}
	if path == "command-line-arguments" {
		return strings.TrimSuffix(filepath.Base(l.packages[0]), ".go") + l.suffix(), nil
	}
	return programName(path) + l.suffix(), nil
}

// programName returns the last element of an import path that is not a version.
func programName(path string) string {
	elements := strings.Split(path, "/")
	last := len(elements) - 1
	if last > 0 && isVersion(elements[last]) {
		last--
	}
	return elements[last]
}

// isVersion reports whether s is "v2" or above.
func isVersion(s string) bool {
	if len(s) < 2 || s[0] != 'v' || s[1] == '0' || s == "v1" {
		return false
	}
	return !slices.ContainsFunc([]byte(s[1:]), func(c byte) bool { return c < '0' || c > '9' })
}
