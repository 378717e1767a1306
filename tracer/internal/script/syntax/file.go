package syntax

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Limits of a script. A script above one of them is refused, so that parsing and checking end in bounded time.
const (
	MaxText   = 1 << 20 // bytes of a script
	maxDepth  = 200     // of nested expressions and blocks
	maxNodes  = 1 << 16 // expressions and statements
	maxProbes = 1024    // probes as written, before wildcards
)

// File is the text of a script and its name in messages.
type File struct {
	Name  string
	Text  string
	lines []int // offsets of the beginnings of lines
}

// NewFile returns the file of a script.
func NewFile(name, text string) *File {
	f := &File{Name: name, Text: text, lines: []int{0}}
	for i := range len(text) {
		if text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// Span is a part of a file, from one byte offset to another.
type Span struct{ Begin, End int }

// Position returns the line and the column of an offset, both counted from 1. A column is a character.
func (f *File) Position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(f.Text))
	line = sort.SearchInts(f.lines, offset+1)
	return line, utf8.RuneCountInString(f.Text[f.lines[line-1]:offset]) + 1
}

// Line returns the text of a line without its newline.
func (f *File) Line(line int) string {
	text := f.Text[f.lines[line-1]:]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, "\r")
}

// At returns the position of a span as NAME:LINE:COLUMN.
func (f *File) At(s Span) string {
	line, column := f.Position(s.Begin)
	return fmt.Sprintf("%s:%d:%d", f.Name, line, column)
}

// maxShown is the length in characters of the part of a source line that Snippet shows.
const maxShown = 120

// Snippet returns the source line of a span, and below it a line with carets under the span. Tabs are shown as spaces.
func (f *File) Snippet(s Span) (line, carets string) {
	number, column := f.Position(s.Begin)
	text := []rune(strings.ReplaceAll(strings.ToValidUTF8(f.Line(number), "\uFFFD"), "\t", " "))
	column = min(column-1, len(text))
	width := max(utf8.RuneCountInString(f.Text[s.Begin:max(s.Begin, min(s.End, len(f.Text)))]), 1)
	if from := column - maxShown/2; from > 0 && len(text) > maxShown {
		text, column = text[from:], column-from
	}
	text = text[:min(len(text), maxShown)]
	return string(text), strings.Repeat(" ", min(column, len(text))) + strings.Repeat("^", max(1, min(width, len(text)-column)))
}

// Error is a mistake in a script.
type Error struct {
	File *File
	Span Span
	Text string // names the construct
	Hint string // an instruction, or ""
}

// Snippet returns the source line of the mistake and a line with carets under it.
func (e *Error) Snippet() (line, carets string) { return e.File.Snippet(e.Span) }

// Error returns NAME:LINE:COLUMN and the text.
func (e *Error) Error() string { return e.File.At(e.Span) + ": " + e.Text }
