package main

import (
	"fmt"
	"strings"
)

// columns are the forms of markers of the first table.
var columns = []string{"generic", "optimized", "sites as NOPs", "C, sdt.h nop", "C, sdt.h semaphore", "C, LTTng-UST"}

// disabledTable has a line for each loop and a column for each form of marker.
func disabledTable(all figures) string {
	var b strings.Builder
	b.WriteString("| | without | " + strings.Join(columns, " | ") + " |\n|---|--:" + strings.Repeat("|--:", len(columns)) + "|\n")
	for _, d := range disabledLoops {
		if d.plain {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", d.name, amount(all.get("disabled", d.to)))
		for _, form := range columns {
			r, added := all.get("disabled", d.name+", "+form), all.get("disabled", d.name+", "+form+", "+addedColumn)
			if r.Ratio == nil || added.Value == nil {
				b.WriteString(" – |")
				continue
			}
			place := ""
			if r.Place != nil {
				place = fmt.Sprintf(" (%.3f)", *r.Place)
			}
			fmt.Fprintf(&b, " %+.2f ns, %.3f%s × |", *added.Value, *r.Ratio, place)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// formsTable has a line for each case and a column for the generic and the optimized program.
func formsTable(results []result) string {
	var b strings.Builder
	b.WriteString("| | generic | optimized | optimized to generic |\n|---|--:|--:|--:|\n")
	for i, r := range results {
		name, found := strings.CutSuffix(r.Case, ", generic")
		if !found {
			continue
		}
		cells := " – | |"
		for _, o := range results[i:] {
			if o.Case == name+", optimized" && o.Value != nil && r.Value != nil {
				ratio := ""
				if *r.Value > 0 {
					ratio = fmt.Sprintf("%.2f ×", *o.Value / *r.Value)
				}
				cells = " " + amount(o) + " | " + ratio + " |"
			}
		}
		if r.Value == nil {
			fmt.Fprintf(&b, "| %s | %s | | |\n", name, because(r))
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |%s\n", name, amount(r), cells)
	}
	return b.String()
}

// A bar is what was asked of optimized sites, and what was measured.
type bar struct {
	what     string
	most     float64
	measured func(all figures) (float64, bool)
}

// ratioOf returns the ratio of a disabled case to the same loop without markers.
func ratioOf(name string) func(figures) (float64, bool) {
	return func(all figures) (float64, bool) {
		r := all.get("disabled", name+", optimized")
		if r.Ratio == nil {
			return 0, false
		}
		return *r.Ratio, true
	}
}

// placeOf returns the ratio of the median place to that of the loop without.
func placeOf(name string) func(figures) (float64, bool) {
	return func(all figures) (float64, bool) {
		r := all.get("disabled", name+", optimized")
		if r.Place == nil {
			return 0, false
		}
		return *r.Place, true
	}
}

// overBlank returns the ratio of the median place to that of the same code with NOPs for its sites.
func overBlank(name string) func(figures) (float64, bool) {
	return func(all figures) (float64, bool) {
		o, b := all.get("disabled", name+", optimized"), all.get("disabled", name+", sites as NOPs")
		if o.Place == nil || b.Place == nil || *b.Place <= 0 {
			return 0, false
		}
		return *o.Place / *b.Place, true
	}
}

// addedOf returns what optimized sites add, by what generic ones do.
func addedOf(name string) func(figures) (float64, bool) {
	return func(all figures) (float64, bool) {
		o, g := all.get("disabled", name+", optimized, "+addedColumn), all.get("disabled", name+", generic, "+addedColumn)
		if o.Value == nil || g.Value == nil || *g.Value <= 0 {
			return 0, false
		}
		return *o.Value / *g.Value, true
	}
}

var bars = []bar{
	{"one site in an empty loop, to the loop without", 1.02, ratioOf("empty loop, 1 marker")},
	{"the same at the median place", 1.02, placeOf("empty loop, 1 marker")},
	{"eight sites between dependent work, to the work without", 1.005, ratioOf("8 steps of work, 8 markers")},
	{"the same at the median place", 1.005, placeOf("8 steps of work, 8 markers")},
	{"the same, to the work with NOPs for the sites' bytes", 1.005, overBlank("8 steps of work, 8 markers")},
	{"one site in a loop that copies 4096 bytes, to the loop without", 1.005, ratioOf("copy 4096, 1 marker")},
	{"the same at the median place", 1.005, placeOf("copy 4096, 1 marker")},
	{"the same, to the loop with NOPs for the site's bytes", 1.005, overBlank("copy 4096, 1 marker")},
	{"eight sites and nothing else: added time, to generic sites'", 0.8, addedOf("empty loop, 8 markers")},
	{"eight sites, armed words in no cache: added time, to generic sites'", 0.5, addedOf("cold: 8 markers")},
	{"the same between copies of 512 bytes", 0.5, addedOf("cold: copy 8 × 512, 8 markers")},
	{"a typed empty probe, to a generic site's", 1.0, func(all figures) (float64, bool) {
		o, g := all.get("enabled", typedName+", optimized"), all.get("enabled", typedName+", generic")
		if o.Value == nil || g.Value == nil || *g.Value <= 0 {
			return 0, false
		}
		return *o.Value / *g.Value, true
	}},
}

func barsTable(all figures) string {
	var b strings.Builder
	b.WriteString("| optimized sites | at most | measured | |\n|---|--:|--:|---|\n")
	for _, bar := range bars {
		ratio, ok := bar.measured(all)
		switch {
		case !ok:
			fmt.Fprintf(&b, "| %s | %v | – | not measured |\n", bar.what, bar.most)
		case ratio <= bar.most:
			fmt.Fprintf(&b, "| %s | %v | %.3f | holds |\n", bar.what, bar.most, ratio)
		default:
			fmt.Fprintf(&b, "| %s | %v | %.3f | **does not hold** |\n", bar.what, bar.most, ratio)
		}
	}
	return b.String()
}
