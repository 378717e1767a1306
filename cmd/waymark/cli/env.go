package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/term"
)

// Env is what a command has of the outside.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	mu        sync.Mutex             // keeps messages whole
	interrupt atomic.Pointer[func()] // what a second signal does before waymark ends
}

// message prints a line for people on standard error.
func (e *Env) message(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintf(e.Stderr, "waymark: %s\n", printable(line))
	}
}

func (e *Env) hint(format string, args ...any) {
	e.message("hint: "+format, args...)
}

func (e *Env) warning(format string, args ...any) {
	e.message("warning: "+format, args...)
}

// patience is how long something may take before it says what it is doing.
const patience = time.Second

// progress says what is being done when that takes longer than a second. It says so to a
// terminal only, and the function it returns takes it back.
func (e *Env) progress(format string, args ...any) (done func()) {
	if !isScreen(e.Stderr) {
		return func() {}
	}
	shown := false
	ended := false
	timer := time.AfterFunc(patience, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if !ended {
			shown = true
			fmt.Fprintf(e.Stderr, "waymark: %s…", printable(fmt.Sprintf(format, args...)))
		}
	})
	return func() {
		timer.Stop()
		e.mu.Lock()
		defer e.mu.Unlock()
		ended = true
		if shown {
			shown = false
			fmt.Fprint(e.Stderr, "\r\x1b[K")
		}
	}
}

func isTerminal(w io.Writer) bool {
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

// style puts text in a colour or a weight; where there is no colour it leaves it.
type style struct{ on bool }

// styleFor returns the style for what is written to w: https://no-color.org.
func styleFor(w io.Writer) style {
	return style{isScreen(w) && os.Getenv("NO_COLOR") == ""}
}

// Select graphic rendition, ECMA-48.
const (
	boldOn   = "\x1b[1m"
	dimOn    = "\x1b[2m"
	styleOff = "\x1b[0m"
)

func (s style) bold(text string) string { return s.wrap(boldOn, text) }
func (s style) dim(text string) string  { return s.wrap(dimOn, text) }

func (s style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return code + text + styleOff
}

// begin begins text in another style, until end.
func (s style) begin(b []byte, code string) []byte {
	if !s.on {
		return b
	}
	return append(b, code...)
}

func (s style) end(b []byte) []byte {
	if !s.on {
		return b
	}
	return append(b, styleOff...)
}
