package cli

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

// statPlain prints one table at the end.
type statPlain struct {
	out   *output
	style style
	brief bool // leave out what was not hit: nobody asked for it by name
}

func (*statPlain) interval(*sample) error { return nil }

func (v *statPlain) final(s *sample, _ end) error {
	rows, silent := s.rows, 0
	if v.brief {
		rows = nil
		for _, r := range s.rows {
			if r.count > 0 {
				rows = append(rows, r)
			} else {
				silent++
			}
		}
	}
	if len(rows) > 0 {
		for i, line := range countTable(rows, func(r statRow) float64 { return perSecond(r.count, s.elapsed) }) {
			if i == 0 {
				line = v.style.bold(line)
			}
			if _, err := fmt.Fprintln(v.out, line); err != nil {
				return err
			}
		}
	}
	last := fmt.Sprintf("%s of %s in %s", plural(s.hits(), "hit"), plural(len(rows), "marker"), seconds(s.elapsed))
	if silent > 0 {
		last += fmt.Sprintf("; %s not hit", plural(silent, "marker"))
	}
	_, err := fmt.Fprintln(v.out, v.style.dim(last))
	return err
}

// countTable lays out a heading and a line for each row.
func countTable(rows []statRow, rate func(statRow) float64) []string {
	markers := make([]*tracer.Marker, len(rows))
	for i, r := range rows {
		markers[i] = r.marker
	}
	names := rowNames(markers)
	t := table{right: []bool{false, true, true}}
	t.add("MARKER", "COUNT", "RATE")
	for i, r := range rows {
		t.add(names[i], fmt.Sprint(r.count), rateText(rate(r)))
	}
	return t.lines()
}

// rowNames returns the names of markers, with their file where one name is in several.
func rowNames(markers []*tracer.Marker) []string {
	named := map[string]int{}
	for _, m := range markers {
		named[m.FullName()]++
	}
	names := make([]string, len(markers))
	for i, m := range markers {
		names[i] = label(m.FullName())
		if named[m.FullName()] > 1 {
			names[i] += " (" + label(filepath.Base(m.File.Path)) + ")"
		}
	}
	return names
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

// statJSON prints an object for each marker and interval.
type statJSON struct{ out *output }

// jsonCount is an object of stat --json.
type jsonCount struct {
	Time    string  `json:"time"`
	Elapsed float64 `json:"elapsed_s"`
	Marker  string  `json:"marker"`
	File    string  `json:"file"`
	Count   uint64  `json:"count"`
	Delta   uint64  `json:"delta"`
	Rate    float64 `json:"rate"`
	Final   bool    `json:"final,omitempty"`
	End     end     `json:"end,omitempty"`
}

func (v *statJSON) interval(s *sample) error {
	return v.print(s, func(r statRow, c *jsonCount) { c.Rate = perSecond(r.delta, s.interval) })
}

func (v *statJSON) final(s *sample, why end) error {
	return v.print(s, func(r statRow, c *jsonCount) {
		c.Rate, c.Final, c.End = perSecond(r.count, s.elapsed), true, why
	})
}

func (v *statJSON) print(s *sample, more func(statRow, *jsonCount)) error {
	for _, r := range s.rows {
		c := jsonCount{
			Time: s.at.UTC().Format(timeFormat), Elapsed: s.elapsed.Seconds(),
			Marker: r.marker.FullName(), File: r.marker.File.Path,
			Count: r.count, Delta: r.delta,
		}
		more(r, &c)
		if err := writeJSON(v.out, &c); err != nil {
			return err
		}
	}
	return nil
}
