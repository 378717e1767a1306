package main

import (
	"strings"
	"testing"
)

// The sentences under the figures follow from them.
func TestVerdicts(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	disabled := func(mean, place, blank, semaphore, nop float64) figures {
		return figures{"disabled": {
			{Case: emptyLoop + ", optimized", Ratio: number(mean), Place: number(place)},
			{Case: copyLoop + ", optimized", Ratio: number(mean), Place: number(place)},
			{Case: copyLoop + ", sites as NOPs", Place: number(blank)},
			{Case: copyLoop + ", C, sdt.h semaphore", Place: number(semaphore)},
			{Case: copyLoop + ", C, sdt.h nop", Place: number(nop)},
		}}
	}
	lost := func(lost float64) figures {
		return figures{"lost": {
			{Case: "bpftrace printf(), " + rates[0].name, Value: number(lost)},
			{Case: "bpftrace printf(), " + rates[0].name + ", of", Value: number(1000)},
		}}
	}
	for _, test := range []struct {
		about string
		all   figures
		want  string
	}{
		{"empty", disabled(0.967, 1.002, 1, 1, 1), "holds over the places and holds at the median place"},
		{"empty", disabled(1.04, 1.03, 1, 1, 1), "does not hold over the places and does not hold at the median place"},
		{"empty", figures{}, "Neither was measured"},
		{"copy", disabled(1.034, 1.013, 1.013, 1, 1), "takes 1.3 % more than the loop without, above the bar. It is not the site's"},
		{"copy", disabled(1.034, 1.013, 1, 1, 1), "above the bar, and 1.3 % more than the same code with NOPs"},
		{"copy", disabled(1.034, 1.001, 1, 1, 1), "takes as long as the loop without, within the bar"},
		{"copy", figures{}, "was not measured"},
		{"c", disabled(1, 1, 1, 1.016, 0.998), "takes with a semaphore 1.6 % more than, and with the NOP as long as the one without"},
		{"c", disabled(1, 1, 1, 1.001, 1.02), "with a semaphore as long as, and with the NOP 2.0 % more than"},
		{"bpftrace", lost(0), "lost nothing"},
		{"bpftrace", lost(130), "lost up to 13 %"},
		{"bpftrace", figures{}, "was not measured"},
	} {
		got, err := verdict(test.about, test.all)
		if err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, %v, want %q", test.about, got, err, test.want)
		}
	}
	if _, err := verdict("the weather", figures{}); err == nil {
		t.Error("a verdict about nothing")
	}
}
