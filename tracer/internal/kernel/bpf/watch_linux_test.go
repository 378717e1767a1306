package bpf

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// watched starts a shell that runs a script once it is watched.
func watched(t *testing.T, script string, o WatchOptions) (*Watch, *Counter, *exec.Cmd) {
	t.Helper()
	peer.Root(t)
	sh := peer.Need(t, "sh")[0]
	p := talk.Start(t, exec.Command(sh, "-c", "read x; "+script))
	w, err := NewWatch(o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCounter(Options{Watch: w})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := w.Add(p.PID()); err != nil {
		t.Fatal(err)
	}
	p.Tell("")
	return w, c, p.Cmd
}

// news returns what happens until the process that is watched ends, 1 for itself and 2 for
// another.
func news(t *testing.T, w *Watch, self int) (all []string) {
	t.Helper()
	timer := time.AfterFunc(3*time.Minute, func() { w.reader.Close() })
	defer timer.Stop()
	for {
		n, err := w.Next()
		if err != nil {
			t.Fatalf("after %v: %v", all, err)
		}
		if n.Held != nil {
			by, err := w.Hold(n)
			if by != HeldByStop || err != nil {
				t.Errorf("process %d is not stopped: %v", n.PID, err)
			}
			st, err := procfs.ReadStat(n.PID)
			for i := 0; err == nil && st.State != 't' && i < 100; i++ {
				time.Sleep(10 * time.Millisecond)
				st, err = procfs.ReadStat(n.PID)
			}
			if err != nil || st.State != 't' {
				t.Errorf("process %d is not stopped by ptrace: %c, %v", n.PID, st.State, err)
			}
			if until, err := w.Release(n, by); !until || err != nil {
				t.Errorf("process %d was not held until its release: %v", n.PID, err)
			}
		}
		who := 2
		if n.PID == self {
			who = 1
		}
		all = append(all, fmt.Sprintf("%d %v %t", who, n.Kind, n.Held != nil))
		if n.PID == self && n.Kind == prog.Ended {
			return all
		}
	}
}

func TestWatch(t *testing.T) {
	const script = "(exec sleep 0.01); exec sleep 0.01"
	for _, test := range []struct {
		name string
		o    WatchOptions
		want []string
	}{
		{"alone", WatchOptions{}, []string{"1 executed false", "1 ended false"}},
		{"followed", WatchOptions{Follow: true}, []string{
			"2 forked false", "2 executed false", "2 ended false", "1 executed false", "1 ended false"}},
		{"stopped", WatchOptions{Follow: true, Pause: true}, []string{
			"2 forked false", "2 executed true", "2 ended false", "1 executed true", "1 ended false"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, _, cmd := watched(t, script, test.o)
			if diff := cmp.Diff(test.want, news(t, w, cmd.Process.Pid)); diff != "" {
				t.Errorf("news (-want +got):\n%s", diff)
			}
			if !w.Empty() {
				t.Error("somebody is left in the set")
			}
		})
	}
}

// A process that is stopped when everything is closed continues.
func TestWatchClosedWhileStopped(t *testing.T) {
	w, c, cmd := watched(t, "exec true", WatchOptions{Pause: true})
	n, err := w.Next()
	if err != nil || n.Held == nil || n.Kind != prog.Executed {
		t.Fatalf("%v, held %t, %v", n.Kind, n.Held != nil, err)
	}
	if by, err := w.Hold(n); by != HeldByStop {
		t.Fatalf("not stopped: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := w.Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("news after Close: %v", err)
	}
}
