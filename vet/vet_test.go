package vet

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
)

// all runs every analyzer, so that each is seen to be silent about the mistakes of others.
var all = &analysis.Analyzer{
	Name:      "all",
	Doc:       "run every analyzer",
	Requires:  []*analysis.Analyzer{indexer},
	FactTypes: Name.FactTypes,
	Run: func(pass *analysis.Pass) (any, error) {
		quiet := *pass
		if !strings.Contains(pass.Pkg.Path(), "/namedep") { // analysistest requires each fact to be listed
			quiet.ExportPackageFact = func(analysis.Fact) {}
		}
		for _, a := range Analyzers() {
			if _, err := a.Run(&quiet); err != nil {
				return nil, err
			}
		}
		return nil, nil
	},
}

func TestValid(t *testing.T) {
	if err := analysis.Validate(Analyzers()); err != nil {
		t.Error(err)
	}
}

// root returns the directory of go.work, by which testdata imports the real packages. It must be absolute.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPlanted finds the mistakes in testdata, and nothing else there.
func TestPlanted(t *testing.T) {
	for _, dir := range []string{"format", "name", "byname", "decl", "escape", "generic", "tracepoints", "keys", "simple"} {
		t.Run(dir, func(t *testing.T) {
			analysistest.Run(t, root(t), all, "./vet/testdata/"+dir)
		})
	}
	t.Run("cost", func(t *testing.T) {
		analysistest.RunWithSuggestedFixes(t, root(t), all, "./vet/testdata/cost")
	})
}
