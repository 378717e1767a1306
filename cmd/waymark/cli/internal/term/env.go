// Package term is waymark's side of the terminal: streams, messages and hints, signals, buffered output, colour, columns, and
// lines that are redrawn in place.
//
// Nothing else in waymark has the standard streams, so that all text goes through a [Writer] on its way out.
//
// Results go to standard output, or to standard error while a command runs that has standard output
// for itself. Everything else goes to standard error, in lines that begin with "waymark: ": lower
// case, without a full stop. Text from a program or a file passes [Linef], [Printable] or [Label], so that it cannot
// begin a line of its own.
package term

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Env is what a command has of the outside. Its methods may be called concurrently.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr *Writer

	mu        sync.Mutex             // keeps messages whole
	shown     bool                   // a line of Status or Progress is on the terminal
	interrupt atomic.Pointer[func()] // what a second signal does before waymark ends
}

// NewEnv returns the environment of a command with these streams.
func NewEnv(s Streams) *Env {
	return &Env{Stdin: s.Stdin, Stdout: newWriter(s.Stdout), Stderr: newWriter(s.Stderr)}
}

// Lend returns the streams as they are, for a command that waymark runs: its output is not waymark's, and a file is
// passed on as a descriptor.
func (e *Env) Lend() Streams { return Streams{e.Stdin, e.Stdout.to, e.Stderr.to} }

// Message prints one line for people on standard error. Errors among the arguments that join others are put on that line too.
func (e *Env) Message(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clear()
	args = slices.Clone(args)
	for i, arg := range args {
		if err, ok := arg.(error); ok {
			args[i] = ErrorText(err)
		}
	}
	_ = Linef(e.Stderr, "waymark: "+format, args...)
}

// Ask prints a question on standard error and returns the line that answers it, "" for none.
func (e *Env) Ask(format string, args ...any) string {
	fmt.Fprintf(e.Stderr, "waymark: %s ", Printable(fmt.Sprintf(format, args...)))
	answer, _ := bufio.NewReader(e.Stdin).ReadString('\n')
	return strings.TrimSpace(answer)
}

// Hint prints a line that says what helps.
func (e *Env) Hint(format string, args ...any) {
	e.Message("hint: "+format, args...)
}

// Warning prints a line about something that does not end the command.
func (e *Env) Warning(format string, args ...any) {
	e.Message("warning: "+format, args...)
}

// Status shows a line on the terminal in place of its last one; "" removes that. It does nothing
// unless standard error is a terminal.
func (e *Env) Status(format string, args ...any) {
	if !isScreen(e.Stderr.to) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.show(Printable(fmt.Sprintf(format, args...)))
}

// show replaces the line that is shown, which clear removes. The caller holds mu.
func (e *Env) show(line string) {
	if line == "" {
		e.clear()
		return
	}
	if width, _, ok := screenSize(e.Stderr.to); ok {
		line = Clip(line, width-1) // one that wraps would not be removed as a whole
	}
	fmt.Fprint(e.Stderr.to, "\r\x1b[K"+line)
	e.shown = true
}

func (e *Env) clear() {
	if e.shown {
		fmt.Fprint(e.Stderr.to, "\r\x1b[K")
		e.shown = false
	}
}

// Hinted is an error with the hint for it.
type Hinted struct {
	error
	Hint  string
	Usage bool // the command line is wrong
}

// Unwrap returns the error without its hint.
func (h *Hinted) Unwrap() error { return h.error }

// WithHint adds an instruction to an error, which says what helps.
func WithHint(err error, format string, args ...any) error {
	return &Hinted{error: err, Hint: fmt.Sprintf(format, args...)}
}

// Usage returns the error of a wrong command line.
func Usage(hint, format string, args ...any) error {
	return &Hinted{fmt.Errorf(format, args...), hint, true}
}

// Exit statuses.
const (
	StatusOK          = 0
	StatusError       = 1
	StatusUsage       = 2
	StatusInterrupted = 128 + 2 // SIGINT
)

// StatusFailure ends waymark with the status of a command it ran, which said itself what
// was wrong.
type StatusFailure int

// Error names the status.
func (s StatusFailure) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// sameSignal is how long after the first signal another one is the same.
const sameSignal = time.Second

// NotifySignals returns a context that Ctrl-C and SIGTERM end, so that what is under way
// ends in order. A second such signal ends waymark at once; the kernel then detaches for it. One that comes within
// a second of the first is the same: timeout(1) and others send a signal to a process, and then to its group.
//
// A terminal that is closed ends it in order too, unless nohup has it ignored. Of that signal
// there may be two, from the kernel and from the shell: they never end it at once.
//
// SIGPIPE is caught too, and thereby turned into an error of the write: a command that
// waymark runs still gets it as usual, which it would not had waymark ignored it.
func NotifySignals(parent context.Context, env *Env) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	hangup := make(chan os.Signal, 1)
	for _, s := range hangupSignals {
		if !signal.Ignored(s) {
			signal.Notify(hangup, s)
		}
	}
	pipe := make(chan os.Signal, 1)
	if len(pipeSignals) > 0 {
		signal.Notify(pipe, pipeSignals...)
	}
	done := make(chan struct{})
	go func() {
		var asked time.Time
		for {
			select {
			case <-done:
				return
			case <-hangup:
			case <-signals:
				if asked.IsZero() {
					asked = time.Now()
				} else if time.Since(asked) >= sameSignal {
					env.interruptNow()
				}
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(hangup)
		signal.Stop(pipe)
		close(done)
		cancel()
	}
}

// interruptNow ends waymark, and the command that it runs.
func (e *Env) interruptNow() {
	if f := e.interrupt.Load(); f != nil {
		(*f)()
	}
	os.Exit(StatusInterrupted)
}

// OnSecondInterrupt sets what a second signal does first.
func (e *Env) OnSecondInterrupt(f func()) {
	e.interrupt.Store(&f)
}
