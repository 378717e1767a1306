package main

import (
	"fmt"
	"io"
	"strconv"
)

// printMarkdown prints a table for docs: a line for each case, with what is further said of it.
func printMarkdown(w io.Writer, b benchmark, results []result) error {
	var further []string // columns
	rows := make(map[string]map[string]result)
	var cases []result
	texts := ""
	for _, r := range results {
		if r.Text != "" {
			texts += "\n" + r.Case + ":\n\n```\n" + r.Text + "```\n"
			continue
		}
		if r.more == "" {
			cases = append(cases, r)
			rows[r.Case] = make(map[string]result)
			continue
		}
		if columns := rows[cases[len(cases)-1].Case]; columns != nil {
			columns[r.more] = r
		}
		known := false
		for _, f := range further {
			known = known || f == r.more
		}
		if !known {
			further = append(further, r.more)
		}
	}
	if len(cases) == 0 {
		_, err := io.WriteString(w, texts)
		return err
	}
	line := "| " + b.name + " | |"
	rule := "|---|--:|"
	for _, f := range further {
		line += " " + f + " |"
		rule += "--:|"
	}
	text := line + " compared |\n" + rule + "---|\n"
	for _, r := range cases {
		if r.Skipped != "" {
			text += "| " + r.Case + " | skipped: " + r.Skipped + " |\n"
			continue
		}
		text += "| " + r.Case + " | " + amount(r) + " |"
		for _, f := range further {
			if m, ok := rows[r.Case][f]; ok {
				text += " " + amount(m)
			}
			text += " |"
		}
		if r.Ratio != nil {
			text += fmt.Sprintf(" %s × %s", strconv.FormatFloat(*r.Ratio, 'f', 2, 64), r.RatioTo)
		}
		text += " |\n"
	}
	_, err := io.WriteString(w, "\n"+text+texts)
	return err
}

// amount returns a figure as a table has it.
func amount(r result) string {
	if r.Value == nil {
		return "–"
	}
	v, unit := *r.Value, r.Unit
	switch {
	case unit == "allocs" || unit == "instructions" && v < 100:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case unit == "ns" && v >= 1e6:
		return strconv.FormatFloat(v/1e6, 'f', 1, 64) + " ms"
	case unit == "ns" && v >= 1e4:
		return strconv.FormatFloat(v/1e3, 'f', 1, 64) + " µs"
	case unit == "ns" && v < 1000:
		return strconv.FormatFloat(v, 'f', 2, 64) + " ns"
	}
	return strconv.FormatFloat(v, 'f', 0, 64) + " " + unit
}
