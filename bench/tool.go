package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// tool is a tracer, run as its users run it.
type tool struct {
	name  string
	argv  []string
	pairs bool       // what is measured is a pair of markers, two hits
	setup [][]string // commands that must succeed first
	undo  [][]string // commands that take them back
	line  *format    // of an event, of tools that print events

	times  []float64
	failed error
}

// tools returns the tools; others are compared with the first.
func tools(dir, waymark string, t *target) []*tool {
	pid := t.pid()
	// perf keeps its own copy of the notes, and the marker becomes an event of the kernel, which stays when a
	// benchmark is killed.
	exec.Command("perf", "probe", "--quiet", "--del", "sdt_bench:hit").Run()
	learn := [][]string{
		{"perf", "buildid-cache", "--add", t.path},
		{"perf", "probe", "--quiet", "--add", "sdt_bench:hit"},
	}
	forget := [][]string{
		{"perf", "probe", "--quiet", "--del", "sdt_bench:hit"},
		{"perf", "buildid-cache", "--remove", t.path},
	}
	usdt := "usdt:" + t.path + ":bench:"
	pair := usdt + "hit { @s[tid] = nsecs } " + usdt + "back /@s[tid]/ { @ns = hist(nsecs - @s[tid]); delete(@s[tid]) }"
	return []*tool{
		{name: "waymark stat", argv: []string{waymark, "stat", "-p", pid, markerName}},
		{name: "perf stat", argv: []string{"perf", "stat", "-e", "sdt_bench:hit", "-p", pid}, setup: learn, undo: forget},
		{name: "bpftrace count()", argv: []string{"bpftrace", "-p", pid, "-e", "usdt:" + t.path + ":" + markerName + " { @ = count() }"}},
		{name: "waymark stat --by", argv: []string{waymark, "stat", "--by", "at", "-p", pid, markerName}},
		{name: "bpftrace @[arg1]", argv: []string{"bpftrace", "-p", pid, "-e", usdt + "hit { @[arg1] = count() }"}},
		{name: "waymark latency, a pair", argv: []string{waymark, "latency", "-p", pid, markerName, "bench:back"}, pairs: true},
		{name: "bpftrace hist(), a pair", argv: []string{"bpftrace", "-p", pid, "-e", pair}, pairs: true},
		{name: "waymark trace", argv: []string{waymark, "trace", "-p", pid, markerName}, line: &format{" n=", " at="}},
		{name: "waymark trace --json", argv: []string{waymark, "trace", "--json", "-p", pid, markerName}, line: &format{`{"n":`, `,"at":`}},
		{name: "perf record", argv: []string{"perf", "record", "-q", "-o", filepath.Join(dir, "perf.data"), "-e", "sdt_bench:hit", "-p", pid}, line: &format{" arg1=", " arg2="}},
		{name: "bpftrace printf()", argv: []string{"bpftrace", "-p", pid, "-e", "usdt:" + t.path + ":" + markerName + ` { printf("%d %d\n", arg0, arg1) }`}, line: &format{"", " "}},
	}
}

// prepare reports why the tool cannot be used, if it cannot.
func (tool *tool) prepare() error {
	if _, err := exec.LookPath(tool.argv[0]); err != nil {
		return err
	}
	for i, argv := range tool.setup {
		if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
			runAll(tool.undo[len(tool.undo)-i:])
			return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, lastLine(out))
		}
	}
	return nil
}

func (tool *tool) cleanUp() { runAll(tool.undo) }

// runAll runs commands that undo others; there is nothing to do about one that fails.
func runAll(commands [][]string) {
	for _, argv := range commands {
		exec.Command(argv[0], argv[1:]...).Run()
	}
}

// process is a tool that runs.
type process struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	once   bool
	err    error
}

// startTo runs the tool with its output in a file. With nil it is thrown away, as cheaply for it as a pipe to nobody.
func (tool *tool) startTo(out *os.File) (*process, error) {
	p := &process{cmd: pinned(1, tool.argv[0], tool.argv[1:]...)}
	p.cmd.Stderr = &p.stderr
	if out != nil {
		p.cmd.Stdout = out
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	return p, nil
}

// stop interrupts the tool as Ctrl-C does and waits until it has detached.
func (p *process) stop() error {
	if p.once {
		return p.err
	}
	p.once = true
	err := p.interrupt()
	var exit *exec.ExitError
	// perf ends with the signal it got; that is no failure.
	if errors.As(err, &exit) && exit.ProcessState.String() == "signal: interrupt" {
		err = nil
	}
	if err != nil {
		p.err = fmt.Errorf("%s: %w: %s", filepath.Base(p.cmd.Path), err, lastLine(p.stderr.Bytes()))
	}
	return p.err
}

// interrupt sends SIGINT until the tool ends: bpftrace 0.17 forgets one that comes while it
// attaches.
func (p *process) interrupt() error {
	exited := make(chan error, 1)
	go func() { exited <- p.cmd.Wait() }()
	for range 15 {
		p.cmd.Process.Signal(syscall.SIGINT)
		select {
		case err := <-exited:
			return err
		case <-time.After(2 * time.Second):
		}
	}
	p.cmd.Process.Kill()
	return <-exited
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
