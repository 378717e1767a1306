package cli

import (
	"fmt"
	"strings"
)

// screen redraws lines in place.
type screen struct {
	out   *output
	style style
	size  func() (width, height int)
	drawn int // lines on the screen
}

func newScreen(out *output) *screen {
	return &screen{out: out, style: styleFor(out.to), size: func() (int, int) {
		if w, h, ok := screenSize(out.to); ok {
			return w, h
		}
		return 80, 24
	}}
}

// draw replaces what is there by lines, the first of which is a heading. They must fit.
func (s *screen) draw(lines []string) error {
	var b strings.Builder
	b.WriteString(s.erase())
	for i, line := range lines {
		if i == 0 {
			line = s.style.bold(line)
		}
		b.WriteString(line + "\n")
	}
	s.drawn = len(lines)
	if _, err := s.out.Write([]byte(b.String())); err != nil {
		return err
	}
	return s.out.flush()
}

// clear removes what is there.
func (s *screen) clear() error {
	_, err := s.out.Write([]byte(s.erase()))
	s.drawn = 0
	return err
}

// erase moves to the first line drawn and clears from there. The terminal may have echoed ^C.
func (s *screen) erase() string {
	if s.drawn == 0 {
		return "\r\x1b[J"
	}
	return fmt.Sprintf("\r\x1b[%dA\x1b[J", s.drawn)
}
