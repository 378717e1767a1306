// Package build makes programs whose markers every tracer sees: go build, then the linking of what it wrote, with a
// report.
package build

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer/link"
)

// Run builds the programs of a command line beside their final names, links them, and then renames them. It returns the errors of
// all programs.
func Run(ctx context.Context, env *term.Env, line *Line) error {
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
		return term.WithHint(fmt.Errorf("%d programs were built, and -o names no directory for them", len(built)), "waymark build -o bin/ …")
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
func (l *Line) linkBuilt(ctx context.Context, env *term.Env, built, final string) error {
	if filepath.Ext(final) == ".h" {
		return os.Rename(built, final)
	}
	if err := checkReplaceable(final); err != nil {
		return err
	}
	o := l.link
	o.Simple = l.usesSimple(ctx, built)
	report, err := Link(built, final, o)
	if err != nil {
		// The temporary name would mean nothing to the reader.
		return fmt.Errorf("linking %s: %w", final, unwrapOnce(err))
	}
	return Print(env, env.Stderr, report, final, false)
}

// usesSimple reports whether a program was built with package simple. The package leaves no trace
// in the program's code.
func (l *Line) usesSimple(ctx context.Context, program string) bool {
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
func goRun(ctx context.Context, env *term.Env, args []string) error {
	cmd := goCommand(ctx, args)
	std := env.Lend()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = std.Stdin, std.Stdout, std.Stderr
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
		return term.StatusFailure(term.StatusError)
	case errors.Is(err, exec.ErrNotFound):
		return term.WithHint(errors.New("the go command is not in PATH"), "https://go.dev/dl has it; waymark link takes a program that was built elsewhere")
	}
	return fmt.Errorf("running go: %w", err)
}

// Line is a command line of go build, without the flags that build handles itself.
type Line struct {
	dir     string // of -C, "" for none
	out     string // of -o, "" for none
	overlay string // of -overlay, "" for none; go build gets it too
	args    []string
	Help    bool
	link    link.Options
}

// Parse takes the flags out of a command line that build handles itself. It knows no others:
// neither their names nor which of them take a value.
func Parse(args []string) (*Line, error) {
	l := &Line{args: args}
	var err error
	l.Help = l.takeSwitch("h") || l.takeSwitch("help")
	l.link.Optimize, l.link.NoWatch = l.takeSwitch("optimize"), l.takeSwitch("no-watch")
	if l.out, err = l.takeValue("o"); err != nil {
		return nil, err
	}
	if at, _, _ := l.find("C"); at == 0 { // elsewhere go build refuses it
		if l.dir, err = l.takeValue("C"); err != nil {
			return nil, err
		}
	}
	environment := Line{args: strings.Fields(os.Getenv("GOFLAGS"))}
	for _, from := range []*Line{l, &environment} {
		if at, value, joined := from.find("overlay"); joined {
			l.overlay = value
		} else if at >= 0 && at+1 < len(from.args) {
			l.overlay = from.args[at+1]
		}
		if l.overlay != "" {
			break
		}
	}
	return l, nil
}

// find returns the index of the last flag of a name, -1 for none, and the value that is joined to
// it by =.
func (l *Line) find(name string) (at int, value string, joined bool) {
	at = -1
	for i, arg := range l.args {
		if arg == "--" {
			break
		}
		flag, text, equals := strings.Cut(arg, "=")
		if flag == "-"+name || flag == "--"+name {
			at, value, joined = i, text, equals
		}
	}
	return at, value, joined
}

// takeSwitch removes a flag without a value, and reports whether it is set.
func (l *Line) takeSwitch(name string) (set bool) {
	at, value, joined := l.find(name)
	if at < 0 {
		return false
	}
	l.args = slices.Delete(slices.Clone(l.args), at, at+1)
	l.takeSwitch(name) // the last one counts
	return !joined || value == "true"
}

// takeValue removes a flag with a value, and returns the value, "" without such a flag.
func (l *Line) takeValue(name string) (string, error) {
	at, value, joined := l.find(name)
	if at < 0 {
		return "", nil
	}
	end := at + 1
	if !joined {
		if end == len(l.args) {
			return "", term.Usage("waymark build --help shows how", "%s needs a value", l.args[at])
		}
		value = l.args[end]
		end++
	}
	l.args = slices.Delete(slices.Clone(l.args), at, end)
	_, err := l.takeValue(name) // the last one counts
	return value, err
}

// goArgs returns the name of a go command and -C, which has to come first.
func (l *Line) goArgs(verb string) []string {
	if l.dir == "" {
		return []string{verb}
	}
	return []string{verb, "-C", l.dir}
}

// build returns the arguments of go build with another -o.
func (l *Line) build(out string) []string {
	return append(append(l.goArgs("build"), "-o", out), l.args...)
}

// replaced returns the files that -overlay replaces, by path.
func (l *Line) replaced() (map[string]string, error) {
	if l.overlay == "" {
		return nil, nil
	}
	text, err := os.ReadFile(l.path(l.overlay))
	if err != nil {
		return nil, fmt.Errorf("-overlay: %w", err)
	}
	var file struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("-overlay %s: %w", l.overlay, err)
	}
	replace := make(map[string]string)
	for from, to := range file.Replace {
		if from, err = filepath.Abs(l.path(from)); err != nil {
			return nil, fmt.Errorf("-overlay %s: %w", l.overlay, err)
		}
		if to != "" {
			to = l.path(to)
		}
		replace[from] = to
	}
	return replace, nil
}

// path returns a path of the command line as it is from here.
func (l *Line) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(l.dir, p)
}

// output returns the directory of the result, which it makes, and the name that -o gives it, ""
// where go build chooses.
func (l *Line) output() (dir, name string, err error) {
	dir = l.path(l.out)
	if l.out == "" {
		dir = l.path(".")
	} else if info, err := os.Stat(dir); !strings.HasSuffix(l.out, "/") && (err != nil || !info.IsDir()) {
		dir, name = filepath.Split(dir)
		dir = filepath.Clean(dir)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", "", fmt.Errorf("-o %s: %w", l.out, err)
	}
	if name != "" {
		err = checkReplaceable(filepath.Join(dir, name))
	}
	return dir, name, err
}

// checkReplaceable refuses, as go build does, to overwrite a file that no linker wrote.
func checkReplaceable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // not there, or the write reports the reason
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil
	}
	magic := make([]byte, 4)
	if _, err := io.ReadFull(f, magic); err != nil || !bytes.Equal(magic, []byte("\x7fELF")) {
		return fmt.Errorf("build output %q already exists and is not an object file", path)
	}
	return nil
}
