package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// targetEnded is closed when the processes of -p have ended, and their children with --follow.
func (s *Session) targetEnded() <-chan struct{} {
	switch {
	case s.Command != nil:
		return nil
	case s.Subject.Follow:
		return s.ended
	}
	return s.process.ended()
}

// Elapsed returns the time since the session began, until its counters stopped.
func (s *Session) Elapsed() time.Duration {
	if took := s.took.Load(); took > 0 {
		return time.Duration(took)
	}
	return time.Since(s.begun)
}

// Stopping returns a channel that says what ends says, after stop, which ends counting: what is read then is of one
// moment, the session's end.
func (s *Session) Stopping(ends <-chan view.End, stop func() error) <-chan view.End {
	stopped := make(chan view.End, 1)
	go func() {
		select {
		case why := <-ends:
			s.took.Store(max(int64(time.Since(s.begun)), 1))
			if err := stop(); err != nil { // which reading, or detaching again, returns too
				s.Env.Warning("ending: %v", err)
			}
			stopped <- why
		case <-s.over:
		}
	}()
	return stopped
}

func (s *Session) watch(ctx context.Context, limit time.Duration, out *term.Output, ends chan<- view.End) {
	var deadline <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case <-s.exited: // nil without a command
		ends <- view.ByCommand
	case <-s.targetEnded():
		ends <- view.ByProcess
	case <-deadline:
		ends <- view.ByDuration
	case <-out.Failed:
		ends <- view.ByOutput
	case <-ctx.Done():
		go s.awaitReader(out, "Ctrl-C again")
		s.awaitCommand()
		ends <- view.ByInterrupt
		return
	case <-s.over:
		return
	}
	s.awaitReader(out, "Ctrl-C twice")
}

// awaitReader waits until the session, which has ended, is over. When it is not because nobody reads
// what is written, it says so, and what helps.
func (s *Session) awaitReader(out *term.Output, way string) {
	for tick := time.NewTicker(term.Patience); ; {
		select {
		case <-s.over:
			tick.Stop()
			return
		case <-tick.C:
			if out.Stuck(term.Patience) {
				tick.Stop()
				s.Env.Message("whoever reads the output does not, and the rest waits for that; %s ends without it", way)
				return
			}
		}
	}
}

// Enough returns a channel that says what ends says, and ByCount once there is what was asked for.
func (s *Session) Enough(ends <-chan view.End, reached func() (bool, error)) <-chan view.End {
	either := make(chan view.End, 1)
	go func() {
		poll := time.NewTicker(MinInterval)
		defer poll.Stop()
		look := poll.C
		for {
			select {
			case why := <-ends:
				either <- why
				return
			case <-look:
				ok, err := reached()
				if ok {
					either <- view.ByCount
					return
				}
				if err != nil {
					look = nil // whoever shows finds out too; the session goes on until it ends
				}
			case <-s.over:
				return
			}
		}
	}()
	return either
}

// awaitCommand waits for the end of the command after an interrupt: what it does until then
// still counts.
func (s *Session) awaitCommand() {
	if s.Command == nil {
		return
	}
	select {
	case <-s.exited:
	case <-time.After(grace):
		s.stays = s.terminate(nil) // the second Ctrl-C kills it
	}
}

// terminate sends the command SIGTERM and waits for its end. One that does not end is never killed unasked, since it may
// have good reason: the error says that it is left running. The end of kill kills it.
func (s *Session) terminate(kill <-chan struct{}) error {
	s.Command.Signal(syscall.SIGTERM)
	pid := s.Command.PID()
	waiting := time.AfterFunc(term.Patience, func() {
		s.Env.Message("waiting for %s, process %d, to end after SIGTERM; Ctrl-C kills it", s.named, pid)
	})
	defer waiting.Stop()
	select {
	case <-s.exited:
	case <-kill:
		s.Command.Signal(os.Kill)
		<-s.exited
	case <-time.After(stubborn):
		return term.WithHint(fmt.Errorf("%s, process %d, still runs %v after SIGTERM, and is left running", s.named, pid, stubborn),
			"kill -KILL %d ends it", pid)
	}
	return nil
}

// finish ends the session, and its command when that still runs. It returns what the exit
// status should say about the command.
func (s *Session) finish(ctx context.Context, why view.End) error {
	close(s.over)
	s.process.close()
	if s.Command == nil {
		return nil
	}
	switch {
	case s.stays != nil:
		return s.stays
	case why == view.ByCommand || why == view.ByInterrupt:
		<-s.exited
		return commandResult(s.result)
	}
	return s.terminate(ctx.Done())
}

// commandResult turns what Wait returned into waymark's exit status.
func commandResult(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return fmt.Errorf("waiting for the command: %w", err)
		}
		return nil
	}
	if signal, ok := term.EndedBySignal(exit); ok {
		return term.StatusFailure(128 + signal)
	}
	return term.StatusFailure(exit.ExitCode())
}

// HintChildren names --follow, after the results, if a command that ran without it had no hits: its children may have
// had them.
func (s *Session) HintChildren(out *term.Output, hits uint64) {
	if hits == 0 && s.Command != nil && !s.Subject.Follow && s.Subject.Engine != tracer.EngineAgent && out.Flush() == nil {
		s.Env.Hint("only %s itself was traced; --follow adds the processes that it starts", s.named)
	}
}

// MinInterval is the shortest interval: reading counts takes a system call a marker.
const MinInterval = 10 * time.Millisecond
