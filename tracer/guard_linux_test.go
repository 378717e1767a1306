package tracer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// guardOf returns the guard of this process, 0 for none. There must not be two.
func guardOf(t *testing.T) (guard int) {
	t.Helper()
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks { // children are those of the thread that made them
		more, _ := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		children = append(append(children, ' '), more...)
	}
	for _, word := range strings.Fields(string(children)) {
		pid, _ := strconv.Atoi(word)
		if name, err := procfs.Comm(pid); err == nil && name == "waymark-guard" {
			if guard != 0 && guard != pid {
				t.Errorf("guards %d and %d", guard, pid)
			}
			guard = pid
		}
	}
	return guard
}

// When somebody kills the guard, counting and tracing end with an error instead of showing
// numbers that stand still.
func TestGuardKilled(t *testing.T) {
	p := startTick(t, tick(t), 10)
	target := PIDs(p.PID())
	markers := mustFind(t, target, "loop2")
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()

	kill := func() {
		t.Helper()
		if err := unix.Kill(guardOf(t), unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the counter is 0 without the guard", func() bool { return counter(t, p.PID(), markers[0]) == 0 })
	}
	ended := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "guard process") || !strings.Contains(err.Error(), "signal: killed") {
			t.Errorf("%s: %v, want one that says what has ended", what, err)
		}
	}

	c, err := Count(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	kill()
	eventually(t, "Read fails", func() bool { _, err := c.Read(); return err != nil })
	_, err = c.Read()
	ended("Read", err)
	ended("Close", c.Close())

	tr, err := Trace(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan error)
	go func() {
		_, err := next(ctx, tr)
		came <- err
	}()
	time.Sleep(50 * time.Millisecond) // Next waits
	kill()
	ended("Next", <-came)
	_, err = next(ctx, tr)
	ended("Next once more", err)
	ended("Close", tr.Close())
	if guard := guardOf(t); guard != 0 {
		t.Errorf("guard %d is left", guard)
	}
}

// A process that executes another program after Find is not what was found.
func TestExecBetweenFindAndAttach(t *testing.T) {
	path := tick(t)
	for _, test := range []struct {
		name, next string
		want       error
	}{
		{"another program", "/bin/sleep", ErrChanged},
		{"the same program", path, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := startTick(t, path, 1)
			target := PIDs(p.PID())
			markers := mustFind(t, target, "loop2")
			p.Tell("exec " + test.next)
			if test.want == nil {
				p.Expect("ready")
			}
			eventually(t, "the program is executed", func() bool {
				line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID()))
				return string(line) == test.next+"\x0060\x00"
			})
			c, err := Count(target, markers, nil)
			if err == nil {
				closeNow(t, c)
			}
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want != nil {
				t.Log(err)
			}
		})
	}
}
