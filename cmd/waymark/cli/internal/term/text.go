package term

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns s with everything escaped that could do something to a terminal, hide
// or reorder text: control characters, invalid UTF-8, formatting characters.
func Printable(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return escaped(s)
		}
	}
	return s
}

func escaped(s string) string {
	b := make([]byte, 0, len(s)+16)
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		b = appendPrintable(b, []byte(s[:n]))
		s = s[n:]
	}
	return string(b)
}

// appendPrintable appends a character as [Printable] has it.
func appendPrintable(b, char []byte) []byte {
	switch r, n := utf8.DecodeRune(char); {
	case r == utf8.RuneError && n == 1:
		return fmt.Appendf(b, `\x%02x`, char[0])
	case strconv.IsPrint(r):
		return append(b, char...)
	default:
		q := strconv.AppendQuoteRune(nil, r)
		return append(b, q[1:len(q)-1]...)
	}
}

// maxShown bounds a name in a table, in cells: a note may carry one of 64 KiB.
const maxShown = 120

// Label returns a name from a file or a process as it can be printed.
func Label(s string) string {
	if len(s) > 4*maxShown {
		s = s[:4*maxShown] + "…"
	}
	return Clip(Printable(s), maxShown)
}

// Labels returns the label of each name.
func Labels(names []string) []string {
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = Label(name)
	}
	return labels
}

// Wrap puts parts into lines, three blanks apart, which are no longer than width unless a part is;
// 0 is any width.
func Wrap(parts []string, width int) []string {
	lines := []string{parts[0]}
	for _, part := range parts[1:] {
		line := &lines[len(lines)-1]
		if longer := *line + "   " + part; width == 0 || Width(longer) <= width {
			*line = longer
		} else {
			lines = append(lines, part)
		}
	}
	return lines
}

// Table lays rows out in columns, two blanks apart.
type Table struct {
	Right []bool // which columns are aligned right
	Least []int  // how wide columns are at least, nil for no matter
	Rows  [][]string
}

// Add adds a row, which has as many cells as there are columns. Cells are made Printable: many are of
// programs that this terminal does not trust.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Printable(cell)
	}
	t.Rows = append(t.Rows, row)
}

// Widths returns the width of each column, in cells.
func (t *Table) Widths() []int {
	widths := make([]int, len(t.Right))
	copy(widths, t.Least)
	for _, row := range t.Rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	return widths
}

// Lines returns one line for each row, without blanks at their ends.
func (t *Table) Lines() []string {
	widths := t.Widths()
	lines := make([]string, len(t.Rows))
	for i, row := range t.Rows {
		var b strings.Builder
		for j, cell := range row {
			if j > 0 {
				b.WriteString("  ")
			}
			if t.Right[j] {
				cell = padLeft(cell, widths[j])
			} else {
				cell = Pad(cell, widths[j])
			}
			b.WriteString(cell)
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// Print writes the lines, the first of them in the style of a heading unless that is nil.
func (t *Table) Print(w io.Writer, heading func(string) string) error {
	lines := t.Lines()
	if heading != nil {
		lines[0] = heading(lines[0])
	}
	for _, line := range lines {
		if err := Linef(w, "%s", line); err != nil {
			return err
		}
	}
	return nil
}

// Plural returns "1 marker", "2 markers".
func Plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// List returns "a", "a and b", "a, b and c".
func List(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
