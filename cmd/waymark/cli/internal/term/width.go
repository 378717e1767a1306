package term

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns the number of cells that printable text takes on a terminal: two for most characters of
// Chinese, Japanese and Korean and for emoji, none for combining marks (Unicode Standard Annexes 11 and 29).
func Width(s string) int {
	if isASCII(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Clip returns the beginning of s that fits into width cells, with an ellipsis if something is missing.
func Clip(s string, width int) string {
	if len(s) <= width || Width(s) <= width {
		return s
	}
	if width <= 0 {
		return ""
	}
	var kept strings.Builder
	used, state := 0, -1
	for rest := s; rest != ""; {
		var cluster string
		var cells int
		cluster, rest, cells, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += cells; used > width-1 {
			break
		}
		kept.WriteString(cluster)
	}
	return kept.String() + "…"
}

// Pad returns s with blanks after it up to width cells.
func Pad(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

func padLeft(s string, width int) string {
	if n := width - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Fit clips cells of some columns so that no line is wider than width, the widest column first. Headings stay
// readable: no column becomes narrower than least cells. A width of 0 is any.
func (t *Table) Fit(width, least int, columns ...int) {
	if width == 0 {
		return
	}
	widths := t.Widths()
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := columns[0]
		for _, c := range columns {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= least {
			break
		}
		widths[widest]--
	}
	for _, row := range t.Rows {
		for _, c := range columns {
			row[c] = Clip(row[c], widths[c])
		}
	}
}
