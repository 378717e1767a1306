package cli

import "github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"

// statJSON prints an object for each row and interval.
type statJSON struct {
	out   *term.Output
	table statTable
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
	End   end     `json:"end,omitempty"`
}

func (v *statJSON) interval(s *sample) error {
	var rows []statRow
	for _, r := range v.table.choose(s.rows, func(r statRow) uint64 { return r.delta }) {
		if len(v.table.by) == 0 || r.delta > 0 { // there may be many keys
			rows = append(rows, r)
		}
	}
	return v.print(s, rows, func(r statRow, c *jsonCount) { c.Rate = perSecond(r.delta, s.interval) })
}

func (v *statJSON) final(s *sample, why end) error {
	rows := v.table.choose(s.rows, func(r statRow) uint64 { return r.count })
	return v.print(s, rows, func(r statRow, c *jsonCount) {
		c.Rate, c.Final, c.End = perSecond(r.count, s.elapsed), true, why
	})
}

func (v *statJSON) print(s *sample, rows []statRow, more func(statRow, *jsonCount)) error {
	for _, r := range rows {
		c := jsonCount{
			Time: s.at.UTC().Format(timeFormat), Elapsed: s.elapsed.Seconds(),
			Other: r.other, Rest: r.folded, Count: r.count, Delta: r.delta,
		}
		if r.marker != nil {
			c.Marker, c.File = r.marker.FullName(), r.marker.File.Path
		}
		if r.key != nil {
			for i, name := range v.table.by {
				f, value := &r.fields[i], &r.key.Values[i]
				c.By = append(c.By, jsonField{name, jsonValue(f, value)})
				c.note(name, f, value)
			}
		}
		more(r, &c)
		if err := writeJSON(v.out, &c); err != nil {
			return err
		}
	}
	return nil
}
