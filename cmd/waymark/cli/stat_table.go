package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// statTable is which rows are shown, and in which columns.
type statTable struct {
	by  []string
	top int // 0 for all
}

// choose returns the rows to show: with --by or --top those with the most hits first, as n
// says, and what is beyond --top as one row.
func (t *statTable) choose(rows []statRow, n func(statRow) uint64) []statRow {
	if len(t.by) == 0 && t.top == 0 {
		return rows
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b statRow) int { return cmp.Or(cmp.Compare(n(b), n(a)), a.compare(&b)) })
	if t.top == 0 || len(rows) <= t.top {
		return rows
	}
	rest := statRow{folded: len(rows) - t.top}
	for _, r := range rows[t.top:] {
		rest.count += r.count
		rest.delta += r.delta
	}
	return append(rows[:t.top:t.top], rest)
}

// compare orders rows with as many hits by their keys, so that they stay where they are.
func (r *statRow) compare(to *statRow) int {
	if r.key == nil || to.key == nil || r.marker != to.marker {
		return 0
	}
	for i := range r.fields {
		a, b := &r.key.Values[i], &to.key.Values[i]
		order := cmp.Compare(a.Bits(), b.Bits())
		if r.fields[i].Kind.Signed() {
			order = cmp.Compare(int64(a.Bits()), int64(b.Bits()))
		}
		if order = cmp.Or(order, bytes.Compare(a.Bytes(), b.Bytes())); order != 0 {
			return order
		}
	}
	return 0
}

// heading returns the columns' names.
func (t *statTable) heading() []string {
	columns := []string{"MARKER"}
	for _, name := range t.by {
		columns = append(columns, strings.ToUpper(term.Label(name)))
	}
	return append(columns, "COUNT", "RATE")
}

// right says which columns are aligned right.
func (t *statTable) right() []bool {
	right := make([]bool, len(t.by)+3)
	right[len(right)-2], right[len(right)-1] = true, true
	return right
}

// cells returns the names and the key of each row.
func (t *statTable) cells(rows []statRow) [][]string {
	names := rowNames(rows)
	cells := make([][]string, len(rows))
	for i := range rows {
		r := &rows[i]
		cells[i] = append(cells[i], names[i])
		for j := range t.by {
			cells[i] = append(cells[i], r.cell(j))
		}
	}
	return cells
}

// cell returns the j-th value of a row's key.
func (r *statRow) cell(j int) string {
	switch {
	case r.folded > 0:
		return ""
	case r.other && j == 0:
		return "(other)"
	case r.key == nil:
		return ""
	case r.fields[j].Kind == event.Invalid:
		return "-" // the marker has no such field
	}
	return term.Label(string(r.fields[j].AppendText(nil, &r.key.Values[j])))
}

// layout returns a heading and a line for each row.
func (t *statTable) layout(rows []statRow, rate func(statRow) float64) *term.Table {
	all := term.Table{Right: t.right()}
	all.Add(t.heading()...)
	for i, cells := range t.cells(rows) {
		all.Add(append(cells, fmt.Sprint(rows[i].count), rateText(rate(rows[i])))...)
	}
	return &all
}

// rowNames returns the names of the rows' markers, with their file where one name is in several.
func rowNames(rows []statRow) []string {
	named := map[string]*tracer.Marker{}
	several := map[string]bool{}
	for _, r := range rows {
		if r.marker == nil {
			continue
		}
		name := r.marker.FullName()
		if other := named[name]; other != nil && other != r.marker {
			several[name] = true
		}
		named[name] = r.marker
	}
	names := make([]string, len(rows))
	for i, r := range rows {
		if r.marker == nil {
			names[i] = fmt.Sprintf("(%d more)", r.folded)
			continue
		}
		names[i] = term.Label(r.marker.FullName())
		if several[r.marker.FullName()] {
			names[i] += " (" + term.Label(filepath.Base(r.marker.File.Path)) + ")"
		}
	}
	return names
}
