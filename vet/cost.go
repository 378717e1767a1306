package vet

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// Cost finds arguments that cost something although the marker is not armed.
var Cost = &analysis.Analyzer{
	Name:     "markcost",
	Doc:      "find arguments of markers that cost something while they are not armed\n\nGo evaluates arguments before the marker tests whether somebody looks. Variables, fields, elements, arithmetic and conversions between numbers cost next to nothing; calls, concatenations and allocations belong into if m.Enabled() { … }. The suggested fix puts them there.",
	URL:      page("markcost"),
	Requires: []*analysis.Analyzer{indexer},
	Run:      runCost,
}

func runCost(pass *analysis.Pass) (any, error) {
	ix := indexOf(pass)
	if ix == nil {
		return nil, nil
	}
	for _, h := range ix.hits {
		c := &costs{pass: pass}
		c.arguments(h.call)
		g := &guard{pass.TypesInfo, h.point, ix.flags}
		if len(c.found) == 0 || g.from(h.at).IsValid() {
			continue
		}
		first, point := c.found[0].expr, exprText(h.point)
		d := analysis.Diagnostic{Pos: first.Pos(), End: first.End()}
		if c.received != nil {
			d.Message = fmt.Sprintf("%s while %s is not armed too, and would not be done under a guard; receive before %[2]s.%s", c.words("is done", "are done"), point, h.api.hit)
		} else {
			d.Message = fmt.Sprintf("%s something while %s is not armed too; guard it: if %[2]s.Enabled() { … }", c.words("costs", "cost"), point)
			if fix, ok := ix.wrap(pass, h); ok {
				d.SuggestedFixes = []analysis.SuggestedFix{fix}
			}
		}
		ix.report(pass, statement(h.at), d)
	}
	return nil, nil
}

// words names the costs, each once, with the verb in singular or plural.
func (c *costs) words(one, many string) string {
	var list []string
	for _, f := range c.found {
		if !slices.Contains(list, f.what) {
			list = append(list, f.what)
		}
	}
	n := len(list)
	if n == 1 {
		return list[0] + " " + one
	}
	return strings.Join(list[:n-1], ", ") + " and " + list[n-1] + " " + many
}
