package cli

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/tracer"
)

// statPlain prints one table at the end.
type statPlain struct {
	out   *term.Output
	table statTable
	brief bool // leave out what was not hit: nobody asked for it by name
}

func (*statPlain) interval(*sample) error { return nil }

func (v *statPlain) final(s *sample, _ end) error {
	rows := s.rows
	if v.brief {
		rows = nil
		for _, r := range s.rows {
			if r.count > 0 {
				rows = append(rows, r)
			}
		}
	}
	rows = v.table.choose(rows, func(r statRow) uint64 { return r.count })
	if len(rows) > 0 {
		t := v.table.layout(rows, func(r statRow) float64 { return perSecond(r.count, s.elapsed) })
		if err := t.Print(v.out, v.out.Style.Bold); err != nil {
			return err
		}
	}
	return v.summary(s)
}

// summary prints the last line.
func (v *statPlain) summary(s *sample) error {
	markers, silent := map[*tracer.Marker]bool{}, 0
	keys := 0
	for _, r := range s.rows {
		if r.key != nil {
			keys++
		}
		if v.brief && r.count == 0 {
			silent++
		} else {
			markers[r.marker] = true
		}
	}
	last := fmt.Sprintf("%s of %s in %s", term.Plural(s.hits(), "hit"), term.Plural(len(markers), "marker"), seconds(s.elapsed))
	switch {
	case len(v.table.by) > 0:
		last += fmt.Sprintf("; %s", term.Plural(keys, "key"))
	case silent > 0 && len(markers) == 0:
		last = fmt.Sprintf("no hits of %s in %s", term.Plural(silent, "marker"), seconds(s.elapsed))
	case silent > 0:
		last += fmt.Sprintf("; %s not hit", term.Plural(silent, "marker"))
	}
	_, err := fmt.Fprintln(v.out, v.out.Style.Dim(last))
	return err
}

// statIntervals prints what was counted in every interval.
type statIntervals struct {
	plain  statPlain
	widths []int // of the columns so far: they only grow, so that lines stay below each other
	begun  bool
}

// newStatIntervals makes room for names and for numbers of the usual size.
func newStatIntervals(plain statPlain, markers []*tracer.Marker) *statIntervals {
	v := &statIntervals{plain: plain, widths: make([]int, len(plain.table.by)+4)}
	v.widths[0] = len("999.999 s")
	for _, m := range markers {
		v.widths[1] = max(v.widths[1], min(utf8.RuneCountInString(term.Label(m.FullName())), maxNameColumn))
	}
	last := len(v.widths) - 1
	v.widths[last-1], v.widths[last] = len("9999999"), len("9999999/s")
	return v
}

func (v *statIntervals) interval(s *sample) error {
	t := &v.plain.table
	rows := t.choose(s.rows, func(r statRow) uint64 { return r.delta })
	if len(t.by) > 0 || v.plain.brief {
		hit := rows[:0:0]
		for _, r := range rows {
			if r.delta > 0 {
				hit = append(hit, r)
			}
		}
		rows = hit
	}
	lines := term.Table{Right: append([]bool{true}, t.right()...), Least: v.widths}
	if !v.begun {
		lines.Add(append([]string{"TIME"}, t.heading()...)...)
	}
	at := fmt.Sprintf("%.3f s", s.elapsed.Seconds())
	for i, cells := range t.cells(rows) {
		r := &rows[i]
		lines.Add(append(append([]string{at}, cells...), fmt.Sprint(r.delta), rateText(perSecond(r.delta, s.interval)))...)
	}
	if len(rows) == 0 {
		lines.Add(append([]string{at, "-"}, make([]string, len(t.by)+2)...)...) // time goes by
	}
	v.widths = lines.Widths()
	var heading func(string) string
	if !v.begun {
		v.begun, heading = true, v.plain.out.Style.Bold
	}
	return lines.Print(v.plain.out, heading)
}

// final prints the last interval, which is shorter than the others: unless it ended with one.
func (v *statIntervals) final(s *sample, _ end) error {
	if s.interval >= time.Millisecond || slices.ContainsFunc(s.rows, func(r statRow) bool { return r.delta > 0 }) {
		if err := v.interval(s); err != nil {
			return err
		}
	}
	return v.plain.summary(s)
}

// rateText returns a rate with about three digits.
func rateText(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0/s"
	case perSecond < 10:
		return fmt.Sprintf("%.2f/s", perSecond)
	case perSecond < 100:
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return fmt.Sprintf("%.0f/s", perSecond)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
