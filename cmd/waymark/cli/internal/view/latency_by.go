package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/histogram"
	"github.com/waymark-trace/waymark/tracer"
)

// LatencyRow is what was measured of the pairs of one group.
type LatencyRow struct {
	Key         *tracer.Key // nil of others
	Fields      []event.Field
	Other       bool // pairs with keys beyond the limit
	folded      int  // number of rows folded into this one: --top
	All, Recent *histogram.Histogram
}

func inAll(r *LatencyRow) *histogram.Histogram { return r.All }

func recent(r *LatencyRow) *histogram.Histogram { return r.Recent }

// LatencyTable is which groups are shown.
type LatencyTable struct {
	By  []string // none: there are no groups
	Top int      // 0 for all
}

// choose returns the rows that have pairs, those with the most first, and what is beyond --top as one row.
func (t *LatencyTable) choose(rows []LatencyRow, of func(*LatencyRow) *histogram.Histogram) []LatencyRow {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r LatencyRow) bool { return of(&r).Count() == 0 })
	slices.SortStableFunc(rows, func(a, b LatencyRow) int {
		return cmp.Or(cmp.Compare(of(&b).Count(), of(&a).Count()), compareKeys(a.Fields, a.Key, b.Key))
	})
	if t.Top == 0 || len(rows) <= t.Top {
		return rows
	}
	rest := LatencyRow{folded: len(rows) - t.Top, All: &histogram.Histogram{}, Recent: &histogram.Histogram{}}
	for _, r := range rows[t.Top:] {
		rest.All.Merge(r.All)
		rest.Recent.Merge(r.Recent)
	}
	return append(rows[:t.Top:t.Top], rest)
}

// cell returns the j-th value of a row's key.
func (r *LatencyRow) cell(j int) string {
	switch {
	case r.folded > 0 && j == 0:
		return fmt.Sprintf("(%d more)", r.folded)
	case r.Other && j == 0:
		return "(other)"
	case r.Key == nil:
		return ""
	}
	return term.Label(string(r.Fields[j].AppendText(nil, &r.Key.Values[j])))
}

// heading returns the columns' names.
func (t *LatencyTable) heading() (columns []string) {
	for _, name := range t.By {
		columns = append(columns, strings.ToUpper(term.Label(name)))
	}
	return append(columns, "PAIRS", "P50", "P90", "P99", "P99.9", "MAX", "MEAN", "TOTAL")
}

// layout returns a heading and a line for each row.
func (t *LatencyTable) layout(rows []LatencyRow, of func(*LatencyRow) *histogram.Histogram) *term.Table {
	lines := &term.Table{Right: make([]bool, len(t.By)+8)}
	for i := len(t.By); i < len(lines.Right); i++ {
		lines.Right[i] = true
	}
	lines.Add(t.heading()...)
	for i := range rows {
		var cells []string
		for j := range t.By {
			cells = append(cells, rows[i].cell(j))
		}
		h := of(&rows[i])
		cells = append(cells, fmt.Sprint(h.Count()))
		for _, p := range percentiles {
			cells = append(cells, short(h.Percentile(p)).String())
		}
		lines.Add(append(cells, short(h.Max()).String(), short(h.Mean()).String(), short(h.Sum()).String())...)
	}
	return lines
}

// lines lays out the table in as many lines, 0 for any.
func (t *LatencyTable) lines(rows []LatencyRow, room int) []string {
	fit := *t
	if room > 0 && (fit.Top == 0 || fit.Top > room-2) {
		fit.Top = max(room-2, 1) // the heading, and what is folded
	}
	return t.layout(fit.choose(rows, inAll), inAll).Lines()
}

// LatencyIntervals prints a line for every interval, or with groups one for each of them, and everything at the end.
type LatencyIntervals struct {
	Plain  LatencyPlain
	widths []int // of the columns so far: they only grow, so that lines stay below each other
}

// Interval implements [View].
func (v *LatencyIntervals) Interval(s *LatencySample) error {
	at := fmt.Sprintf("%.3f s", s.Elapsed.Seconds())
	lines := &term.Table{Right: make([]bool, 9), Least: []int{9, 7, 9, 7, 7, 7, 7, 7, 7}}
	for i := range lines.Right {
		lines.Right[i] = true
	}
	if v.Plain.Table.By == nil {
		lines.Add("TIME", "PAIRS", "RATE", "P50", "P90", "P99", "P99.9", "MAX", "MEAN")
		lines.Add(append([]string{at}, intervalCells(s.Recent, s.Interval)...)...)
	} else {
		lines = v.groups(s, at)
	}
	heading := v.Plain.Out.Style.Bold
	if v.widths != nil {
		lines.Least, lines.Rows, heading = v.widths, lines.Rows[1:], nil
	}
	v.widths = lines.Widths()
	return lines.Print(v.Plain.Out, heading)
}

// intervalCells are the cells of a line for all pairs.
func intervalCells(h *histogram.Histogram, during time.Duration) []string {
	cells := []string{fmt.Sprint(h.Count()), rateText(perSecond(h.Count(), during))}
	if h.Count() > 0 {
		for _, p := range percentiles {
			cells = append(cells, short(h.Percentile(p)).String())
		}
		cells = append(cells, short(h.Max()).String(), short(h.Mean()).String())
	}
	return cells
}

// groups lays out the groups of an interval, or that there are none.
func (v *LatencyIntervals) groups(s *LatencySample, at string) *term.Table {
	t := &v.Plain.Table
	lines := t.layout(t.choose(s.Rows, recent), recent)
	lines.Right = append([]bool{true}, lines.Right...)
	lines.Least = make([]int, len(lines.Right))
	lines.Least[0] = len("999.999 s")
	for i := range lines.Rows {
		first := at
		if i == 0 {
			first = "TIME"
		}
		lines.Rows[i] = append([]string{first}, lines.Rows[i]...)
	}
	if len(lines.Rows) == 1 {
		lines.Add(append([]string{at, "-"}, make([]string, len(lines.Right)-2)...)...) // time goes by
	}
	return lines
}

// Final prints the last interval, unless the session ended with one, and all of it.
func (v *LatencyIntervals) Final(s *LatencySample, why End) error {
	if s.Interval >= time.Millisecond || s.Recent.Count() > 0 {
		if err := v.Interval(s); err != nil {
			return err
		}
	}
	return v.Plain.Final(s, why)
}
