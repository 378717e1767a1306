package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

// statLive redraws a table in place, then leaves the one of statPlain there.
type statLive struct {
	*term.Screen
	last statPlain
}

func newStatLive(out *term.Output, last statPlain) *statLive {
	return &statLive{term.NewScreen(out), last}
}

func (v *statLive) interval(s *sample) error {
	width, height := v.Size()
	return v.Draw(liveLines(s, &v.last.table, width, height-1))
}

func (v *statLive) final(s *sample, why end) error {
	if err := v.Clear(); err != nil {
		return err
	}
	return v.last.final(s, why)
}

// barWidth is how wide the bar of the busiest marker is.
const barWidth = 20

// liveLines lays out a screen: a table with bars, and what does not fit as a number.
func liveLines(s *sample, t *statTable, width, height int) []string {
	all := t.choose(s.rows, func(r statRow) uint64 { return r.count })
	rows := all
	room := max(height-2, 1) // the heading and the last line
	if hidden := len(rows) - room; hidden > 0 {
		rows = busiest(rows, room)
	}
	rate := func(r statRow) float64 { return perSecond(r.delta, s.interval) }
	top := 0.0
	for _, r := range rows {
		top = max(top, rate(r))
	}
	lines := t.layout(rows, rate).Lines()
	column := 0
	for _, line := range lines {
		column = max(column, len([]rune(line)))
	}
	for i, r := range rows {
		if n := barLength(rate(r), top); n > 0 {
			lines[i+1] = term.Pad(lines[i+1], column+2) + strings.Repeat("▪", n)
		}
	}
	last := fmt.Sprintf("%s in %s; Ctrl-C ends it", term.Plural(s.hits(), "hit"), seconds(s.elapsed))
	if hidden := len(all) - len(rows); hidden > 0 {
		what := "more marker"
		if len(t.by) > 0 {
			what = "more key"
		}
		last = fmt.Sprintf("%s less busy; %s", term.Plural(hidden, what), last)
	}
	lines = append(lines, last)
	for i := range lines {
		lines[i] = term.Clip(lines[i], width)
	}
	return lines
}

// busiest returns the n rows with the highest rates, then counts, in their order.
func busiest(rows []statRow, n int) []statRow {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b statRow) int {
		return cmp.Or(cmp.Compare(b.delta, a.delta), cmp.Compare(b.count, a.count))
	})
	keep := map[rowID]bool{}
	for _, r := range sorted[:n] {
		keep[r.rowID] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r statRow) bool { return !keep[r.rowID] })
}

func barLength(rate, top float64) int {
	if rate <= 0 || top <= 0 {
		return 0
	}
	return max(1, int(rate/top*barWidth+0.5))
}
