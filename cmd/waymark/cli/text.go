package cli

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// printable returns s with everything escaped that could do something to a terminal, hide
// or reorder text: control characters, invalid UTF-8, formatting characters.
func printable(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return escaped(s)
		}
	}
	return s
}

func escaped(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteString(s[:n])
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// maxShown bounds a name in a table, in characters: a note may carry one of 64 KiB.
const maxShown = 120

// label returns a name from a file or a process as it can be printed.
func label(s string) string {
	if len(s) > 4*maxShown {
		s = s[:4*maxShown] + "…"
	}
	return clip(printable(s), maxShown)
}

// clip returns the first width characters of s, with an ellipsis for what is missing.
func clip(s string, width int) string {
	if len(s) <= width || utf8.RuneCountInString(s) <= width {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == width {
			return s[:i] + "…"
		}
	}
	return s
}

// pad returns s with blanks after it up to width characters.
func pad(s string, width int) string {
	if n := width - utf8.RuneCountInString(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

func padLeft(s string, width int) string {
	if n := width - utf8.RuneCountInString(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// wrap puts parts into lines, three blanks apart, which are no longer than width unless a part is;
// 0 is any width.
func wrap(parts []string, width int) []string {
	lines := []string{parts[0]}
	for _, part := range parts[1:] {
		line := &lines[len(lines)-1]
		if longer := *line + "   " + part; width == 0 || utf8.RuneCountInString(longer) <= width {
			*line = longer
		} else {
			lines = append(lines, part)
		}
	}
	return lines
}

// table lays rows out in columns, two blanks apart.
type table struct {
	right []bool // which columns are aligned right
	least []int  // how wide columns are at least, nil for no matter
	rows  [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) widths() []int {
	widths := make([]int, len(t.right))
	copy(widths, t.least)
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// lines returns one line for each row, without blanks at their ends.
func (t *table) lines() []string {
	widths := t.widths()
	lines := make([]string, len(t.rows))
	for i, row := range t.rows {
		var b strings.Builder
		for j, cell := range row {
			if j > 0 {
				b.WriteString("  ")
			}
			if t.right[j] {
				cell = padLeft(cell, widths[j])
			} else {
				cell = pad(cell, widths[j])
			}
			b.WriteString(cell)
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

// plural returns "1 marker", "2 markers".
func plural[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// namedText says how many names there are, where it is not as many as there must be.
func namedText(n int) string {
	switch n {
	case 0:
		return "none is named"
	case 1:
		return "only one is named"
	}
	return fmt.Sprintf("%d are named", n)
}

// list returns "a", "a and b", "a, b and c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
