package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// target is a running program that obeys: bench/target, for one.
type target struct {
	path string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  chan string
}

// pinned returns a command that keeps to one CPU. The target has one and the tools another:
// the kernel would otherwise now and then pack both on one, and change the figures.
func pinned(cpu int, name string, args ...string) *exec.Cmd {
	if taskset, err := exec.LookPath("taskset"); err == nil && runtime.NumCPU() > cpu {
		return exec.Command(taskset, append([]string{"-c", strconv.Itoa(cpu), name}, args...)...)
	}
	return exec.Command(name, args...)
}

// startTarget starts a program that reads commands and answers each with a line.
func startTarget(path string, cmd *exec.Cmd) (*target, error) {
	t := &target{path: path, cmd: cmd, out: make(chan string)}
	t.cmd.Stderr = os.Stderr
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the target: %w", err)
	}
	go func() {
		defer close(t.out)
		for s := bufio.NewScanner(out); s.Scan(); {
			t.out <- s.Text()
		}
	}()
	return t, nil
}

func (t *target) pid() string { return strconv.Itoa(t.cmd.Process.Pid) }

// answerTime bounds every answer: the target itself gives up earlier.
const answerTime = 2 * time.Minute

// ask sends a command and returns the answer.
func (t *target) ask(command string) (string, error) {
	if _, err := fmt.Fprintln(t.in, command); err != nil {
		return "", fmt.Errorf("telling the target %q: %w", command, err)
	}
	select {
	case answer, ok := <-t.out:
		if !ok {
			return "", fmt.Errorf("the target ended instead of answering %q", command)
		}
		return answer, nil
	case <-time.After(answerTime):
		return "", fmt.Errorf("the target did not answer %q within %s", command, answerTime)
	}
}

// mark returns the nanoseconds that one of n passes took.
func (t *target) mark(n int) (float64, error) { return t.pass("mark", n) }

// pass does so for one of the target's ways to pass markers.
func (t *target) pass(way string, n int) (float64, error) {
	answer, err := t.ask(way + " " + strconv.Itoa(n))
	if err != nil {
		return 0, err
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(answer), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the target's answer: %w", err)
	}
	return float64(ns) / float64(n), nil
}

// stop ends the target and waits for that.
func (t *target) stop() {
	t.in.Close()
	timer := time.AfterFunc(5*time.Second, func() { t.cmd.Process.Kill() })
	defer timer.Stop()
	for range t.out { // Wait must not come before the pipe was read to its end
	}
	t.cmd.Wait()
}
