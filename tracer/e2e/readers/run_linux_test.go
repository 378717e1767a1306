package readers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// The limits of one command on a damaged input.
const (
	maxCPU     = 30              // seconds
	maxTime    = 3 * time.Minute // of a machine that does other things, too
	maxMemory  = 512 << 20       // resident at the most
	maxAddress = 8 << 20         // KiB of address space: a runaway ends before the machine does
	maxOutput  = 256 << 20
)

// verdict runs a command and returns what is wrong with how it ended, "" for nothing.
func verdict(argv []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), maxTime)
	defer cancel()
	limits := fmt.Sprintf(`ulimit -t %d; ulimit -v %d; exec "$@"`, maxCPU, maxAddress)
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limits, "sh"}, argv...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var stdout, stderr limited
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err.Error()
	}
	text := stderr.String()
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("it ran for %v", maxTime)
	case status.Signaled() && status.Signal() == syscall.SIGXCPU, status.Signaled() && status.Signal() == syscall.SIGKILL:
		return fmt.Sprintf("it took %d s of processor time", maxCPU)
	case status.Signaled():
		return fmt.Sprintf("ended by %v: %s", status.Signal(), last(text))
	case crash.MatchString(text):
		return "it crashed: " + last(text)
	case peak > maxMemory:
		return fmt.Sprintf("it took %d MiB of memory", peak>>20)
	case stdout.over || stderr.over:
		return fmt.Sprintf("it printed more than %d MiB", maxOutput>>20)
	case status.ExitStatus() > 1:
		return fmt.Sprintf("exit status %d: %s", status.ExitStatus(), last(text))
	case status.ExitStatus() == 1 && stdout.Len() == 0 && stderr.Len() == 0:
		return "it failed without a word"
	}
	for _, b := range [][]byte{stdout.Bytes(), stderr.Bytes()} {
		if i := bytes.IndexFunc(b, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }); i >= 0 {
			return fmt.Sprintf("it printed a control character: %q", b[max(0, i-20):min(len(b), i+20)])
		}
	}
	if slices.Contains(argv, "--json") {
		for line := range bytes.Lines(stdout.Bytes()) {
			if !json.Valid(line) {
				return fmt.Sprintf("it printed no JSON: %.200q", line)
			}
		}
	}
	return ""
}

// crash matches what Go prints when a program ends against its will. Errors may quote a panic that was
// recovered.
var crash = regexp.MustCompile(`(?m)^(panic: |fatal error: |goroutine \d+ \[|runtime: |SIG[A-Z]+: )`)

func last(text string) string {
	if at := crash.FindStringIndex(text); at != nil {
		text = text[at[0]:]
	} else if len(text) > 2000 {
		text = text[len(text)-2000:]
	}
	return strings.TrimSpace(text[:min(len(text), 2000)])
}

// limited keeps the first bytes of an output.
type limited struct {
	bytes.Buffer
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > maxOutput {
		l.over = true
		return 0, errors.New("more output than is kept")
	}
	return l.Buffer.Write(p)
}
