package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/packages"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/vet"
)

const vetLong = `Find mistakes in the use of markers, tracepoints and keys before a program runs.

vet reports formats that do not fit their arguments, names that are invalid or
taken, markers that no tool will find, copies, and arguments that cost time
while no tracer is attached. docs/vet.md shows each with its remedy. A comment
//waymark:ignore REASON accepts the finding on its line.

Packages are named as for go build, ./... by default, and must compile. Exit
status: 0 without findings, 1 with findings or after an error.`

const vetExample = `  waymark vet                                   ./... and the tests in it
  waymark vet --fix ./cmd/...                   guard expensive arguments
  waymark vet --json ./... | jq .analyzer
  go vet -vettool=$(which waymark-vet) ./...    the same, cached`

type vetFlags struct {
	fix, json bool
	tags      string
}

func newVetCommand(env *term.Env) *cobra.Command {
	var f vetFlags
	cmd := &cobra.Command{
		Use:     "vet [flags] [PACKAGE...]",
		Short:   "Find mistakes in the use of markers",
		Long:    vetLong,
		Example: vetExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"./..."}
			}
			return runVet(cmd.Context(), env, args, &f)
		},
	}
	cmd.Flags().BoolVar(&f.fix, "fix", false, "change the files as findings suggest, and print the others")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON, one object a line: docs/vet.md")
	cmd.Flags().StringVar(&f.tags, "tags", "", "build `TAGS`, as for go build")
	return cmd
}

func runVet(ctx context.Context, env *term.Env, patterns []string, f *vetFlags) error {
	done := env.Progress("loading %s", term.List(patterns))
	pkgs, err := loadPackages(ctx, patterns, f.tags)
	done()
	if err != nil {
		return err
	}
	done = env.Progress("analyzing %s", term.Plural(len(pkgs), "package"))
	graph, err := checker.Analyze(vet.Analyzers(), pkgs, nil)
	done()
	if err != nil {
		return fmt.Errorf("analyzing: %w", err)
	}
	broken := printBroken(env, pkgs)
	found, err := findings(graph)
	if err != nil {
		return err
	}
	if f.fix && broken == 0 {
		if found, err = fix(ctx, env, found, patterns, f.tags); err != nil {
			return err
		}
	}
	for _, one := range found {
		if err := one.print(env, f.json); err != nil {
			return err
		}
	}
	switch {
	case broken > 0:
		return term.WithHint(fmt.Errorf("%s not looked at because of errors", term.Plural(broken, "package")), "vet looks at code that compiles: go build says the same")
	case len(found) > 0:
		return term.StatusFailure(term.StatusError)
	}
	return nil
}

// loadPackages reads packages, their tests and everything that they need, which go list names.
func loadPackages(ctx context.Context, patterns []string, tags string) ([]*packages.Package, error) {
	if _, err := exec.LookPath("go"); err != nil {
		return nil, term.WithHint(errors.New("the go command is not in PATH"), "vet reads packages with its help: https://go.dev/dl has it")
	}
	config := &packages.Config{Context: ctx, Mode: packages.LoadAllSyntax | packages.NeedModule, Tests: true}
	if tags != "" {
		config.BuildFlags = []string{"-tags=" + tags}
	}
	pkgs, err := packages.Load(config, patterns...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		text := err.Error()
		if _, said, ok := strings.Cut(text, "stderr: "); ok {
			text = said // what went wrong, after how go list was called
		}
		return nil, term.WithHint(fmt.Errorf("loading packages: %w", linesOf(text)), "go list %s says the same", term.List(patterns))
	case len(pkgs) == 0:
		return nil, term.Usage("name directories, such as ./cmd/...", "no packages in %s", term.List(patterns))
	}
	return pkgs, nil
}

// printBroken prints what is wrong with packages that are not there or do not compile, each
// thing once, and returns how many these are.
func printBroken(e *term.Env, pkgs []*packages.Package) int {
	said := make(map[string]bool)
	broken := make(map[string]bool)
	packages.Visit(pkgs, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			broken[p.PkgPath] = true
			text := strings.TrimPrefix(err.Error(), "-: ") // which stands for no file
			if !said[text] {
				said[text] = true
				for _, line := range term.ErrorLines(linesOf(relative(text))) {
					e.Message("error: %s", line)
				}
			}
		}
	})
	return len(broken)
}

// finding is what an analyzer reported, in the shape that --json prints.
type finding struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Analyzer string `json:"analyzer"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`
	Package  string `json:"package"`
}

// findings returns what was reported, in the order of the files. A package and the same one
// with its tests report the same things; each is kept once.
func findings(graph *checker.Graph) ([]*finding, error) {
	var found []*finding
	type key struct {
		token.Position
		message string
	}
	seen := make(map[key]bool)
	for _, act := range graph.Roots {
		if act.Err != nil && !act.Package.IllTyped { // those were printed
			return nil, fmt.Errorf("%s in %s: %w", act.Analyzer.Name, act.Package.PkgPath, act.Err)
		}
		for _, d := range act.Diagnostics {
			pos := act.Package.Fset.Position(d.Pos)
			if k := (key{pos, d.Message}); !seen[k] {
				seen[k] = true
				found = append(found, newFinding(act, pos, &d))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b *finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	return found, nil
}

func newFinding(act *checker.Action, pos token.Position, d *analysis.Diagnostic) *finding {
	f := &finding{
		File: relative(pos.Filename), Line: pos.Line, Column: pos.Column,
		Analyzer: act.Analyzer.Name, Message: d.Message, Package: act.Package.PkgPath,
	}
	generated := slices.ContainsFunc(act.Package.Syntax, func(s *ast.File) bool {
		return s.FileStart <= d.Pos && d.Pos < s.FileEnd && ast.IsGenerated(s)
	})
	if len(d.SuggestedFixes) > 0 && !generated {
		f.Fix = d.SuggestedFixes[0].Message
	}
	return f
}

func (f *finding) print(env *term.Env, asJSON bool) error {
	if asJSON {
		return view.WriteJSON(env.Stdout, f)
	}
	return term.Linef(env.Stdout, "%s:%d:%d: %s (%s)", f.File, f.Line, f.Column, f.Message, f.Analyzer)
}

// linesOf returns an error that has a line for each line of what the go command or a compiler wrote.
func linesOf(text string) error {
	var lines []error
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		lines = append(lines, errors.New(line))
	}
	return errors.Join(lines...)
}

// relative shortens the path that a text begins with when it is below the working directory.
func relative(text string) string {
	dir, err := os.Getwd()
	if err != nil {
		return text
	}
	if rest, ok := strings.CutPrefix(text, dir+string(filepath.Separator)); ok {
		return rest
	}
	return text
}

// fixVerb is the hidden verb under which this program is multichecker.Main, which ends its process.
const fixVerb = "vet-fix"

func newVetFixCommand() *cobra.Command {
	return &cobra.Command{
		Use: fixVerb, Hidden: true, DisableFlagParsing: true,
		Run: func(_ *cobra.Command, args []string) {
			os.Args = append([]string{"waymark vet", "-fix"}, args...)
			multichecker.Main(vet.Analyzers()...)
		},
	}
}

// fix has multichecker change the files as the findings suggest, and returns those that suggest
// nothing.
func fix(ctx context.Context, e *term.Env, found []*finding, patterns []string, tags string) ([]*finding, error) {
	var left []*finding
	files := make(map[string]bool)
	for _, f := range found {
		if f.Fix == "" {
			left = append(left, f)
		} else {
			files[f.File] = true
		}
	}
	if len(files) == 0 {
		return left, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("fixing: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, append([]string{fixVerb}, patterns...)...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOFLAGS=%s '-tags=%s'", os.Getenv("GOFLAGS"), tags))
	done := e.Progress("fixing %s", term.Plural(len(files), "file"))
	out, err := cmd.CombinedOutput()
	if done(); err != nil {
		return nil, term.WithHint(fmt.Errorf("fixing: %w: %w", linesOf(string(out)), cmp.Or(ctx.Err(), err)), "run the same again")
	}
	e.Message("fixed %s in %s", term.Plural(len(found)-len(left), "finding"), term.Plural(len(files), "file"))
	return left, nil
}
