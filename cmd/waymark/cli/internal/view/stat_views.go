package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// StatPlain prints one table at the end.
type StatPlain struct {
	Out   *term.Output
	Table StatTable
	Brief bool // leave out what was not hit: nobody asked for it by name
}

func (*StatPlain) Interval(*Sample) error { return nil }

// Final implements [View].
func (v *StatPlain) Final(s *Sample, _ End) error {
	rows := s.Rows
	if v.Brief {
		rows = nil
		for _, r := range s.Rows {
			if r.Count > 0 {
				rows = append(rows, r)
			}
		}
	}
	rows = v.Table.choose(rows, func(r StatRow) uint64 { return r.Count })
	if len(rows) > 0 {
		t := v.Table.layout(rows, func(r StatRow) float64 { return perSecond(r.Count, s.Elapsed) })
		if err := t.Print(v.Out, v.Out.Style.Bold); err != nil {
			return err
		}
	}
	return v.summary(s)
}

// summary prints the last line.
func (v *StatPlain) summary(s *Sample) error {
	markers, silent := map[*tracer.Marker]bool{}, 0
	keys := 0
	for _, r := range s.Rows {
		if r.Key != nil {
			keys++
		}
		if v.Brief && r.Count == 0 {
			silent++
		} else {
			markers[r.Marker] = true
		}
	}
	last := fmt.Sprintf("%s of %s in %s", term.Plural(s.hits(), "hit"), term.Plural(len(markers), "marker"), Seconds(s.Elapsed))
	switch {
	case len(v.Table.By) > 0:
		last += fmt.Sprintf("; %s", term.Plural(keys, "key"))
	case silent > 0 && len(markers) == 0:
		last = fmt.Sprintf("no hits of %s in %s", term.Plural(silent, "marker"), Seconds(s.Elapsed))
	case silent > 0:
		last += fmt.Sprintf("; %s not hit", term.Plural(silent, "marker"))
	}
	return term.Linef(v.Out, "%s", v.Out.Style.Dim(last))
}

// StatIntervals prints what was counted in every interval.
type StatIntervals struct {
	plain  StatPlain
	widths []int // of the columns so far: they only grow, so that lines stay below each other
	begun  bool
}

// NewStatIntervals makes room for names and for numbers of the usual size.
func NewStatIntervals(plain StatPlain, markers []*tracer.Marker) *StatIntervals {
	v := &StatIntervals{plain: plain, widths: make([]int, len(plain.Table.By)+4)}
	v.widths[0] = len("999.999 s")
	for _, m := range markers {
		v.widths[1] = max(v.widths[1], min(term.Width(term.Label(m.FullName())), maxNameColumn))
	}
	last := len(v.widths) - 1
	v.widths[last-1], v.widths[last] = len("9999999"), len("9999999/s")
	return v
}

// Interval implements [View].
func (v *StatIntervals) Interval(s *Sample) error {
	t := &v.plain.Table
	rows := t.choose(s.Rows, func(r StatRow) uint64 { return r.Delta })
	if len(t.By) > 0 || v.plain.Brief {
		hit := rows[:0:0]
		for _, r := range rows {
			if r.Delta > 0 {
				hit = append(hit, r)
			}
		}
		rows = hit
	}
	lines := term.Table{Right: append([]bool{true}, t.right()...), Least: v.widths}
	if !v.begun {
		lines.Add(append([]string{"TIME"}, t.heading()...)...)
	}
	at := fmt.Sprintf("%.3f s", s.Elapsed.Seconds())
	for i, cells := range t.cells(rows) {
		r := &rows[i]
		lines.Add(append(append([]string{at}, cells...), fmt.Sprint(r.Delta), rateText(perSecond(r.Delta, s.Interval)))...)
	}
	if len(rows) == 0 {
		lines.Add(append([]string{at, "-"}, make([]string, len(t.By)+2)...)...) // time goes by
	}
	v.widths = lines.Widths()
	var heading func(string) string
	if !v.begun {
		v.begun, heading = true, v.plain.Out.Style.Bold
	}
	return lines.Print(v.plain.Out, heading)
}

// Final prints the last interval, which is shorter than the others: unless it ended with one.
func (v *StatIntervals) Final(s *Sample, _ End) error {
	if s.Interval >= time.Millisecond || slices.ContainsFunc(s.Rows, func(r StatRow) bool { return r.Delta > 0 }) {
		if err := v.Interval(s); err != nil {
			return err
		}
	}
	return v.plain.summary(s)
}

// NewStatLive returns a view that redraws the table in place, and leaves the one of last there.
func NewStatLive(out *term.Output, last StatPlain) *Live[*Sample] {
	return &Live[*Sample]{&last, term.NewScreen(out), func(s *Sample, width, height int) []string {
		return liveLines(s, &last.Table, width, height-1)
	}}
}

// barWidth is how wide the bar of the busiest marker is, in cells, if there is room.
const barWidth = 20

// leastName is the number of cells that a narrow terminal leaves of names and keys.
const leastName = 4

// liveLines lays out a screen: a table with bars, and what does not fit as a number.
func liveLines(s *Sample, t *StatTable, width, height int) []string {
	all := t.choose(s.Rows, func(r StatRow) uint64 { return r.Count })
	rows := all
	room := max(height-2, 1) // the heading and the last line
	if hidden := len(rows) - room; hidden > 0 {
		rows = busiest(rows, room)
	}
	rate := func(r StatRow) float64 { return perSecond(r.Delta, s.Interval) }
	top := 0.0 // of one marker: many that are folded into one row set no scale
	for _, r := range rows {
		if r.folded == 0 {
			top = max(top, rate(r))
		}
	}
	table := t.layout(rows, rate)
	names := make([]int, len(t.By)+1)
	for i := range names {
		names[i] = i
	}
	table.Fit(width, leastName, names...)
	lines := table.Lines()
	column := 0
	for _, line := range lines {
		column = max(column, term.Width(line))
	}
	room = min(barWidth, width-column-2)
	for i, r := range rows {
		if n := barLength(rate(r), top, room); n > 0 && r.folded == 0 {
			lines[i+1] = term.Pad(lines[i+1], column+2) + strings.Repeat("▪", n)
		}
	}
	last := fmt.Sprintf("%s in %s; Ctrl-C ends it", term.Plural(s.hits(), "hit"), Seconds(s.Elapsed))
	if hidden := len(all) - len(rows); hidden > 0 {
		what := "more marker"
		if len(t.By) > 0 {
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
func busiest(rows []StatRow, n int) []StatRow {
	sorted := slices.Clone(rows)
	slices.SortStableFunc(sorted, func(a, b StatRow) int {
		return cmp.Or(cmp.Compare(b.Delta, a.Delta), cmp.Compare(b.Count, a.Count))
	})
	keep := map[RowID]bool{}
	for _, r := range sorted[:n] {
		keep[r.RowID] = true
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r StatRow) bool { return !keep[r.RowID] })
}

// barLength returns the length of a bar, of which the longest has width cells.
func barLength(rate, top float64, width int) int {
	if rate <= 0 || top <= 0 || width <= 0 {
		return 0
	}
	return max(1, int(rate/top*float64(width)+0.5))
}

// StatJSON prints an object for each row and interval.
type StatJSON struct {
	Out   *term.Output
	Table StatTable
}

// jsonCount is an object of stat --json.
type jsonCount struct {
	Time    string     `json:"time"`
	Elapsed float64    `json:"elapsed_s"`
	Marker  string     `json:"marker,omitempty"`
	File    string     `json:"file,omitempty"`
	By      jsonFields `json:"by,omitempty"`
	jsonNotes
	Other bool    `json:"other,omitempty"`
	Rest  int     `json:"rest,omitempty"`
	Count uint64  `json:"count"`
	Delta uint64  `json:"delta"`
	Rate  float64 `json:"rate"`
	Final bool    `json:"final,omitempty"`
	End   End     `json:"end,omitempty"`
}

// Interval implements [View].
func (v *StatJSON) Interval(s *Sample) error {
	var rows []StatRow
	for _, r := range v.Table.choose(s.Rows, func(r StatRow) uint64 { return r.Delta }) {
		if len(v.Table.By) == 0 || r.Delta > 0 { // there may be many keys
			rows = append(rows, r)
		}
	}
	return v.print(s, rows, func(r StatRow, c *jsonCount) { c.Rate = perSecond(r.Delta, s.Interval) })
}

// Final implements [View].
func (v *StatJSON) Final(s *Sample, why End) error {
	rows := v.Table.choose(s.Rows, func(r StatRow) uint64 { return r.Count })
	return v.print(s, rows, func(r StatRow, c *jsonCount) {
		c.Rate, c.Final, c.End = perSecond(r.Count, s.Elapsed), true, why
	})
}

func (v *StatJSON) print(s *Sample, rows []StatRow, more func(StatRow, *jsonCount)) error {
	for _, r := range rows {
		c := jsonCount{
			Time: s.At.UTC().Format(timeFormat), Elapsed: s.Elapsed.Seconds(),
			Other: r.Other, Rest: r.folded, Count: r.Count, Delta: r.Delta,
		}
		if r.Marker != nil {
			c.Marker, c.File = r.Marker.FullName(), r.Marker.File.Path
		}
		if r.Key != nil {
			for i, name := range v.Table.By {
				f, value := &r.Fields[i], &r.Key.Values[i]
				c.By = append(c.By, jsonField{name, jsonValue(f, value)})
				c.note(name, f, value)
			}
		}
		more(r, &c)
		if err := WriteJSON(v.Out, &c); err != nil {
			return err
		}
	}
	return nil
}
