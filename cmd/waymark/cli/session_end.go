package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
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
		go s.awaitReader(out, "Ctrl-C again")
		s.awaitCommand()
		ends <- byInterrupt
		return
	case <-s.over:
		return
	}
	s.awaitReader(out, "Ctrl-C twice")
}

// awaitReader waits until the session, which has ended, is over. When it is not because nobody reads
// what is written, it says so, and what helps.
func (s *session) awaitReader(out *output, way string) {
	for tick := time.NewTicker(patience); ; {
		select {
		case <-s.over:
			tick.Stop()
			return
		case <-tick.C:
			if out.stuck(patience) {
				tick.Stop()
				s.env.message("whoever reads the output does not, and the rest waits for that; %s ends without it", way)
				return
			}
		}
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
		s.stays = s.terminate(nil) // the second Ctrl-C kills it
	}
}

// terminate sends the command SIGTERM and waits for its end. One that does not end is never killed unasked, since it may
// have good reason: the error says that it is left running. The end of kill kills it.
func (s *session) terminate(kill <-chan struct{}) error {
	s.command.Signal(syscall.SIGTERM)
	pid := s.command.PID()
	waiting := time.AfterFunc(patience, func() {
		s.env.message("waiting for %s, process %d, to end after SIGTERM; Ctrl-C kills it", s.named, pid)
	})
	defer waiting.Stop()
	select {
	case <-s.exited:
	case <-kill:
		s.command.Signal(os.Kill)
		<-s.exited
	case <-time.After(stubborn):
		return withHint(fmt.Errorf("%s, process %d, still runs %v after SIGTERM, and is left running", s.named, pid, stubborn),
			"kill -KILL %d ends it", pid)
	}
	return nil
}

// finish ends the session, and its command when that still runs. It returns what the exit
// status should say about the command.
func (s *session) finish(ctx context.Context, why end) error {
	close(s.over)
	s.process.close()
	if s.command == nil {
		return nil
	}
	switch {
	case s.stays != nil:
		return s.stays
	case why == byCommand || why == byInterrupt:
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
	if signal, ok := endedBySignal(exit); ok {
		return statusFailure(128 + signal)
	}
	return statusFailure(exit.ExitCode())
}
