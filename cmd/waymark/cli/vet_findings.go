package cli

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
)

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
	_, err := fmt.Fprintf(env.Stdout, "%s:%d:%d: %s (%s)\n", term.Printable(f.File), f.Line, f.Column, term.Printable(f.Message), f.Analyzer)
	return err
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
