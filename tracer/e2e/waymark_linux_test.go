package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

var built struct {
	once sync.Once
	path string
	err  error
}

func TestMain(m *testing.M) {
	tracer.GuardMain()
	status := m.Run()
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(status)
}

// waymark returns the path of the command, built once.
func waymark(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "waymark-e2e")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "waymark")
		out, err := exec.Command("go", "build", "-o", built.path, "../../cmd/waymark").CombinedOutput()
		if err != nil {
			t.Logf("%s", out)
			built.err = err
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// watcher is a waymark that runs beside what it looks at.
type watcher struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer
	done   bool
}

// watch starts waymark stat with these arguments and returns when it has attached.
func watch(t *testing.T, args ...string) *watcher {
	t.Helper()
	return watchBy(t, "stat", args...)
}

// watchBy does so with stat or trace.
func watchBy(t *testing.T, verb string, args ...string) *watcher {
	t.Helper()
	w := &watcher{t: t, cmd: exec.Command(waymark(t), append([]string{verb, "--json"}, args...)...)}
	w.cmd.Stdout = &w.stdout
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !w.done {
			w.cmd.Process.Kill()
			w.cmd.Wait()
		}
	})
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		w.stderr.WriteString(line)
		if err != nil {
			t.Fatalf("waymark %s %q did not attach: %s", verb, args, &w.stderr)
		}
		if strings.Contains(line, "attached to ") {
			return w
		}
	}
}

// interrupt ends it as Ctrl-C does.
func (w *watcher) interrupt() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		w.t.Fatal(err)
	}
	w.done = true
	if err := w.cmd.Wait(); err != nil {
		w.t.Errorf("waymark after an interrupt: %v\n%s", err, &w.stderr)
	}
}

// stop interrupts a waymark stat and returns its final counts.
func (w *watcher) stop() map[string]uint64 {
	w.t.Helper()
	w.interrupt()
	counts := make(map[string]uint64)
	for line := range bytes.Lines(w.stdout.Bytes()) {
		var c struct {
			Marker string
			Count  uint64
			Final  bool
		}
		if err := json.Unmarshal(line, &c); err != nil {
			w.t.Fatalf("line %q: %v", line, err)
		}
		if c.Final {
			counts[c.Marker] += c.Count
		}
	}
	return counts
}

// kill ends it as the OOM killer would.
func (w *watcher) kill() {
	w.t.Helper()
	w.done = true
	if err := w.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		w.t.Fatal(err)
	}
	w.cmd.Wait()
}

// eventually waits for a condition that another process brings about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 12_000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%s: not after two minutes", what)
}
