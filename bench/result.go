package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// result is one figure, or a text. One of Value, Text and Skipped is set.
type result struct {
	Bench   string   `json:"bench"`
	Case    string   `json:"case"`
	Value   *float64 `json:"value,omitempty"`
	Low     *float64 `json:"low,omitempty"` // quartiles, of what was measured in rounds
	High    *float64 `json:"high,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	RatioTo string   `json:"ratio_to,omitempty"`
	Ratio   *float64 `json:"ratio,omitempty"`
	Place   *float64 `json:"median_place_ratio,omitempty"` // of copies at all places, the median to the other's median
	Text    string   `json:"text,omitempty"`
	Skipped string   `json:"skipped,omitempty"` // why it was not measured

	more string // what else this says of the case before it: a table has it in the same line
}

// figure returns a result in nanoseconds, beside the case that it is compared with if any.
func figure(name string, ns float64, to string, base float64) result {
	r := result{Case: name, Value: round(ns), Unit: "ns"}
	if to != "" && base > 0 {
		r.RatioTo, r.Ratio = to, round(ns/base)
	}
	return r
}

// measured returns a result in any unit.
func measured(name string, value float64, unit string) result {
	return result{Case: name, Value: round(value), Unit: unit}
}

// spread returns the median and the quartiles of what was measured in rounds.
func spread(name string, values []float64, unit string) result {
	r := measured(name, median(values), unit)
	low, high := quartiles(values)
	r.Low, r.High = round(low), round(high)
	return r
}

// further returns a result that is about another one.
func further(of, what string, value float64, unit string) result {
	r := measured(of+", "+what, value, unit)
	r.more = what
	return r
}

func skipped(name, format string, args ...any) result {
	return result{Case: name, Skipped: fmt.Sprintf(format, args...)}
}

// round keeps as many digits as a measurement is worth.
func round(v float64) *float64 {
	v = math.Round(v*1000) / 1000
	return &v
}

func printJSON(w io.Writer, b benchmark, results []result) error {
	enc := json.NewEncoder(w)
	for _, r := range results {
		r.Bench = b.name
		if err := enc.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func printTable(w io.Writer, b benchmark, results []result) error {
	if _, err := fmt.Fprintf(w, "\n%s: %s", b.name, b.what); err != nil {
		return err
	}
	for _, r := range results {
		var line string
		switch {
		case r.Skipped != "":
			line = "skipped: " + r.Skipped
		case r.Text != "":
			line = "\n" + r.Text
		case r.more != "":
			line = fmt.Sprintf(", %s %.3g %s", r.more, *r.Value, r.Unit)
			if r.Ratio != nil {
				line += fmt.Sprintf(" (%.3g ×)", *r.Ratio)
			}
		case r.Ratio == nil:
			line = fmt.Sprintf("%10.3f %s", *r.Value, r.Unit)
		default:
			line = fmt.Sprintf("%10.3f %s  %8.3f × %s", *r.Value, r.Unit, *r.Ratio, r.RatioTo)
		}
		if r.more == "" {
			line = fmt.Sprintf("\n  %-34s %s", r.Case, line)
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "\n")
	return err
}
