package tracer

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

func TestCommandIsAttachedFromItsFirstInstruction(t *testing.T) {
	path := tick(t)
	var out bytes.Buffer
	cmd, err := Start(t.Context(), []string{path, "20", "run"}, &StartOptions{Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	target := PIDs(cmd.PID())
	c, err := Count(target, mustFind(t, target), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := cmd.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "done 20\n" {
		t.Errorf("the command printed %q, want done 20", got)
	}
	want := map[string]uint64{"loop1": 20, "loop2": 20, "args": 20, "bare": 20}
	if diff := cmp.Diff(want, hits(t, c)); diff != "" {
		t.Errorf("counts after its end (-want +got):\n%s", diff)
	}
	if _, err := Count(target, mustFind(t, Path(path)), nil); !errors.Is(err, ErrNoProcess) {
		t.Errorf("attaching after its end: %v, want ErrNoProcess", err)
	}
}

func TestCommandNotResumed(t *testing.T) {
	sleep := peer.Need(t, "sleep")[0]
	for name, end := range map[string]func(*Command, context.CancelFunc){
		"killed":   func(c *Command, _ context.CancelFunc) { c.Signal(os.Kill) },
		"canceled": func(_ *Command, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			cmd, err := Start(ctx, []string{sleep, "1000"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if st, err := procfs.ReadStat(cmd.PID()); err != nil || st.State != 't' {
				t.Errorf("state before Resume is %c, %v; want t", st.State, err)
			}
			end(cmd, cancel)
			if err := cmd.Wait(); err == nil {
				t.Error("Wait returned nil for a command that was killed")
			}
			if _, err := procfs.ReadStat(cmd.PID()); !procfs.Gone(err) {
				t.Errorf("process %d is still there: %v", cmd.PID(), err)
			}
			if err := cmd.Resume(); err != nil {
				t.Errorf("Resume after its end: %v", err)
			}
		})
	}
}

func TestCommandStatusSignalsAndEnvironment(t *testing.T) {
	sh := peer.Need(t, "sh")[0]
	var out bytes.Buffer
	cmd, err := Start(t.Context(), []string{sh, "-c", `read x; echo "$x $WAYMARK_TEST $(pwd)"; exit 7`},
		&StartOptions{Stdin: strings.NewReader("input\n"), Stdout: &out, Env: []string{"WAYMARK_TEST=set"}, Dir: "/"})
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Resume(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("Wait: %v, want exit status 7", err)
	}
	if got := out.String(); got != "input set /\n" {
		t.Errorf("the command printed %q", got)
	}

	// A signal to a stopped command acts when it runs.
	cmd, err = Start(t.Context(), []string{sh, "-c", "exit 0"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Resume(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("Wait: %v, want ended by SIGTERM", err)
	}
}

func TestStartRefuses(t *testing.T) {
	if _, err := Start(t.Context(), nil, nil); err == nil {
		t.Error("started nothing")
	}
	if _, err := Start(t.Context(), []string{"/no/such/program"}, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
}
