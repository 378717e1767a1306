package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/vet"
)

const vetLong = `Find mistakes in the use of markers, tracepoints and keys before a program runs.

vet looks at formats that do not fit their arguments, names that are invalid or taken,
markers that no tool will find, copies, and arguments that cost something while nobody is
connected. docs/vet.md shows each and the way out; a comment //waymark:ignore REASON accepts
the finding on its line.

Packages are named as for go build, ./... unless something else is said, and have to compile.
Exit status: 0 when nothing was found, 1 when something was or went wrong.`

const vetExample = `  waymark vet                                   ./... and the tests in it
  waymark vet --fix ./cmd/...                   put arguments that cost under their guard
  waymark vet --json ./... | jq .analyzer
  go vet -vettool=$(which waymark-vet) ./...    the same out of go's cache, when only a little changed`

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
	if err != nil {
		done()
		return err
	}
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
			text = said // what went wrong, behind how go list was called
		}
		return nil, term.WithHint(fmt.Errorf("loading packages: %s", strings.TrimSpace(text)), "go list %s says the same", term.List(patterns))
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
				e.Message("error: %s", relative(text))
			}
		}
	})
	return len(broken)
}
