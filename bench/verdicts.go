package main

import (
	"fmt"
	"strings"
)

// verdict returns the sentence of the page about some figures, which says what they say.
func verdict(about string, all figures) (string, error) {
	switch about {
	case "empty":
		return emptyVerdict(all), nil
	case "copy":
		return copyVerdict(all), nil
	case "c":
		return cVerdict(all), nil
	case "bpftrace":
		return lossVerdict(all["lost"], "bpftrace printf()"), nil
	}
	return "", fmt.Errorf("no verdict is about %s", about)
}

const (
	emptyLoop = "empty loop, 1 marker"
	copyLoop  = "copy 4096, 1 marker"
	emptyBar  = 1.02
	copyBar   = 1.005
)

func emptyVerdict(all figures) string {
	mean, ok := ratioOf(emptyLoop)(all)
	place, ok2 := placeOf(emptyLoop)(all)
	if !ok || !ok2 {
		return "Neither was measured in this run."
	}
	return fmt.Sprintf("In this run the bar %s over the places and %s at the median place.", holds(mean <= emptyBar), holds(place <= emptyBar))
}

func holds(ok bool) string {
	if ok {
		return "holds"
	}
	return "does not hold"
}

func copyVerdict(all figures) string {
	place, ok := placeOf(copyLoop)(all)
	blank, ok2 := overBlank(copyLoop)(all)
	if !ok || !ok2 {
		return "The loop that copies was not measured in this run."
	}
	text := fmt.Sprintf("At the median place the loop that copies takes %s the loop without", percent(place, "as long as"))
	switch {
	case place <= copyBar:
		return text + ", within the bar."
	case blank <= copyBar:
		return text + ", above the bar. It is not the site's: with NOPs for the site's bytes the same code takes as long."
	}
	return fmt.Sprintf("%s, above the bar, and %s the same code with NOPs for the site's bytes.", text, percent(blank, "as long as"))
}

// percent says how much longer a ratio is, or the words for one within the bar.
func percent(ratio float64, same string) string {
	switch more := 100 * (ratio - 1); {
	case ratio <= copyBar && ratio >= 2-copyBar:
		return same
	case more < 0:
		return fmt.Sprintf("%.1f %% less than", -more)
	default:
		return fmt.Sprintf("%.1f %% more than", more)
	}
}

func cVerdict(all figures) string {
	var parts []string
	for _, form := range []struct{ column, name string }{{"C, sdt.h semaphore", "with a semaphore"}, {"C, sdt.h nop", "with the NOP"}} {
		if r := all.get("disabled", copyLoop+", "+form.column); r.Place != nil {
			parts = append(parts, fmt.Sprintf("%s %s", form.name, percent(*r.Place, "as long as")))
		}
	}
	if len(parts) == 0 {
		return "C's loops were not measured in this run."
	}
	return "At the median place C's loop takes " + strings.Join(parts, ", and ") + " the one without."
}

// lossVerdict says what a tool lost at the rates that were tried.
func lossVerdict(all []result, tool string) string {
	values := make(map[string]float64)
	for _, r := range all {
		if r.Value != nil {
			values[r.Case] = *r.Value
		}
	}
	tried, worst := 0, 0.0
	for _, busy := range []string{"", busySuffix} {
		for _, r := range rates {
			at := tool + busy + ", " + r.name
			lost, ok := values[at]
			if of := values[at+", of"]; ok && of > 0 {
				tried, worst = tried+1, max(worst, lost/of)
			}
		}
	}
	switch {
	case tried == 0:
		return "It was not measured in this run."
	case worst == 0:
		return "In this run it lost nothing in that way."
	}
	return fmt.Sprintf("In this run it lost up to %.2g %% all the same.", 100*worst)
}
