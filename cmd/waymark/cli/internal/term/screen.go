package term

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

func isTerminal(w io.Writer) bool {
	if over, ok := w.(*Writer); ok {
		w = over.to
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// isScreen reports whether w is a terminal that can move its cursor and clear lines.
func isScreen(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// screenSize returns the size of the terminal that w is, false when it is none.
func screenSize(w io.Writer) (width, height int, ok bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0, false
	}
	width, height, err := term.GetSize(int(f.Fd()))
	return width, height, err == nil && width > 0 && height > 0
}

// Style puts text in a colour or a weight; where there is no colour it leaves it.
type Style struct{ on bool }

// StyleFor returns the style for what is written to w: https://no-color.org.
func StyleFor(w io.Writer) Style {
	return Style{isScreen(w) && os.Getenv("NO_COLOR") == ""}
}

// Select graphic rendition, ECMA-48. DimOn is for [Style.Begin].
const (
	boldOn   = "\x1b[1m"
	DimOn    = "\x1b[2m"
	styleOff = "\x1b[0m"
)

// Bold returns text in bold.
func (s Style) Bold(text string) string { return s.wrap(boldOn, text) }

// Dim returns text in faint.
func (s Style) Dim(text string) string { return s.wrap(DimOn, text) }

func (s Style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return code + text + styleOff
}

// Begin appends the code of a style, which lasts until End.
func (s Style) Begin(b []byte, code string) []byte {
	if !s.on {
		return b
	}
	return append(b, code...)
}

// End appends the code that ends a style.
func (s Style) End(b []byte) []byte {
	if !s.on {
		return b
	}
	return append(b, styleOff...)
}

// Screen redraws lines in place.
type Screen struct {
	out   *Output
	Size  func() (width, height int)
	drawn int // lines on the screen
}

// NewScreen returns a screen without lines. Results must go to a terminal.
func NewScreen(out *Output) *Screen {
	return &Screen{out: out, Size: func() (int, int) {
		if w, h, ok := screenSize(out.to); ok {
			return w, h
		}
		return 80, 24
	}}
}

// Autowrap of lines, DECAWM. Terminals disagree about the width of some characters, emoji among them: a line that one
// takes for longer than it is must not become two, which would not all be erased.
const (
	wrapOff = "\x1b[?7l"
	wrapOn  = "\x1b[?7h"
)

// Draw replaces what is there by lines, the first of which is a heading. They must fit. Draw overwrites line by
// line: an empty screen between two frames flickers, and tmux keeps what was on it in its history.
func (s *Screen) Draw(lines []string) error {
	if err := s.out.control(s.home() + wrapOff); err != nil {
		return err
	}
	for i, line := range lines {
		if i == 0 {
			line = s.out.Style.Bold(line)
		}
		if err := s.out.control(eraseLine); err != nil { // first: after a full line the cursor is still on it
			return err
		}
		if err := Linef(s.out, "%s", line); err != nil {
			return err
		}
	}
	s.drawn = len(lines)
	if err := s.out.control(eraseBelow + wrapOn); err != nil {
		return err
	}
	return s.out.Flush()
}

// Clear removes what is there.
func (s *Screen) Clear() error {
	err := s.out.control(s.home() + eraseBelow)
	s.drawn = 0
	return err
}

const (
	eraseLine  = "\x1b[K" // from the cursor on
	eraseBelow = "\x1b[J"
)

// home moves to the first line drawn. The terminal may have echoed ^C.
func (s *Screen) home() string {
	if s.drawn == 0 {
		return "\r"
	}
	return fmt.Sprintf("\r\x1b[%dA", s.drawn)
}
