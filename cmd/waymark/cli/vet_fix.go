package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"golang.org/x/tools/go/analysis/multichecker"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/vet"
)

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
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, term.WithHint(fmt.Errorf("fixing: %s: %w", bytes.TrimSpace(out), cmp.Or(ctx.Err(), err)), "run the same again")
	}
	e.Message("fixed %s in %s", term.Plural(len(found)-len(left), "finding"), term.Plural(len(files), "file"))
	return left, nil
}
