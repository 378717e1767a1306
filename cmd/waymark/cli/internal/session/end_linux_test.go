package session

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
)

// A command that does not end after SIGTERM is left running, and killed when that is asked for.
func TestTerminateStubborn(t *testing.T) {
	defer func(d time.Duration) { stubborn = d }(stubborn)
	asked := make(chan struct{})
	close(asked)
	for what, test := range map[string]struct {
		patience time.Duration
		kill     chan struct{}
		stays    bool
	}{
		"left":   {50 * time.Millisecond, nil, true},
		"killed": {time.Hour, asked, false},
	} {
		t.Run(what, func(t *testing.T) {
			stubborn = test.patience
			ready, stdout := io.Pipe()
			s := &Session{Env: term.NewEnv(term.Streams{Stdout: stdout, Stderr: io.Discard}), named: "the command"}
			if err := s.startCommand(context.Background(), []string{"sh", "-c", `trap "" TERM; echo ready; while :; do sleep 1; done`}, tracer.EngineAuto); err != nil {
				peer.Missing(t, "ptrace: "+err.Error())
			}
			defer s.abandon()
			if err := s.Command.Resume(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(ready, make([]byte, len("ready\n"))); err != nil {
				t.Fatal(err)
			}
			err := s.terminate(test.kill)
			hint := ""
			if err != nil {
				_, hint = explain.Error(err)
			}
			if (err != nil) != test.stays || test.stays && (!strings.Contains(err.Error(), "is left running") || !strings.Contains(hint, "kill -KILL")) {
				t.Errorf("%v, hint %q", err, hint)
			}
			if runs := unix.Kill(s.Command.PID(), 0) == nil; runs != test.stays {
				t.Errorf("it runs: %t, want %t", runs, test.stays)
			}
		})
	}
}
