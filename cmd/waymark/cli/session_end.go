package cli

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// targetEnded is closed when the processes of -p have ended, and their children with --follow.
func (s *session) targetEnded() <-chan struct{} {
	switch {
	case s.command != nil:
		return nil
	case s.target.Follow:
		return s.ended
	}
	return s.process.ended()
}

func (s *session) elapsed() time.Duration { return time.Since(s.begun) }

func (s *session) watch(ctx context.Context, limit time.Duration, out *output, ends chan<- end) {
	var deadline <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		deadline = timer.C
	}
	select {
	case <-s.exited: // nil without a command
		ends <- byCommand
	case <-s.targetEnded():
		ends <- byProcess
	case <-deadline:
		ends <- byDuration
	case <-out.failed:
		ends <- byOutput
	case <-ctx.Done():
		s.awaitCommand()
		ends <- byInterrupt
	case <-s.over:
	}
}

// enough returns a channel that says what ends says, and byCount once there is what was asked for.
func (s *session) enough(ends <-chan end, reached func() (bool, error)) <-chan end {
	either := make(chan end, 1)
	go func() {
		poll := time.NewTicker(minInterval)
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
					either <- byCount
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
func (s *session) awaitCommand() {
	if s.command == nil {
		return
	}
	select {
	case <-s.exited:
	case <-time.After(grace):
		s.command.Signal(syscall.SIGTERM)
		<-s.exited
	}
}

// finish ends the session, and its command when that still runs. It returns what the exit
// status should say about the command.
func (s *session) finish(ctx context.Context, why end) error {
	close(s.over)
	s.process.close()
	if s.command == nil {
		return nil
	}
	if why == byCommand || why == byInterrupt {
		<-s.exited
		return commandResult(s.result)
	}
	s.command.Signal(syscall.SIGTERM)
	done := s.env.progress("waiting for %s to end after SIGTERM", s.named)
	defer done()
	select {
	case <-s.exited:
	case <-ctx.Done():
		s.command.Kill()
		<-s.exited
	}
	return nil
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
	if signal, ok := endedBySignal(exit); ok {
		return statusFailure(128 + signal)
	}
	return statusFailure(exit.ExitCode())
}
