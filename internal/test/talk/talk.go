// Package talk runs the programs that tests talk with: a line in, a line out.
package talk

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
)

// Program is a program that runs, for the goroutine of one test.
type Program struct {
	Cmd *exec.Cmd

	t   testing.TB
	in  io.WriteCloser
	out *bufio.Reader
}

// Start starts a program; at the end of the test it is killed, if it still runs.
func Start(t testing.TB, cmd *exec.Cmd) *Program {
	t.Helper()
	p := &Program{Cmd: cmd, t: t}
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	return p
}

// PID is the program's process.
func (p *Program) PID() int { return p.Cmd.Process.Pid }

// Tell writes a line.
func (p *Program) Tell(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatalf("telling %s %q: %v", p.Cmd.Path, line, err)
	}
}

// Next returns the next line that the program writes, to any goroutine of the test.
func (p *Program) Next() (string, error) {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s wrote %q and then: %w", p.Cmd.Path, line, err)
	}
	return strings.TrimSuffix(line, "\n"), nil
}

// Line returns the next line that the program writes.
func (p *Program) Line() string {
	p.t.Helper()
	line, err := p.Next()
	if err != nil {
		p.t.Fatal(err)
	}
	return line
}

// Ask writes a line and returns the one that the program answers.
func (p *Program) Ask(line string) string {
	p.t.Helper()
	p.Tell(line)
	return p.Line()
}

// Expect holds the next line against what is wanted.
func (p *Program) Expect(want string) {
	p.t.Helper()
	if got := p.Line(); got != want {
		p.t.Fatalf("%s wrote %q, want %q", p.Cmd.Path, got, want)
	}
}

// Scan reads the next line into variables, as fmt.Sscan does.
func (p *Program) Scan(into ...any) {
	p.t.Helper()
	line := p.Line()
	if _, err := fmt.Sscan(line, into...); err != nil {
		p.t.Fatalf("%s wrote %q: %v", p.Cmd.Path, line, err)
	}
}

// CloseInput lets the program see the end of its input.
func (p *Program) CloseInput() { p.in.Close() }

// End closes the program's input, which ends it, and returns what it ended with.
func (p *Program) End() error {
	p.CloseInput()
	return p.Cmd.Wait()
}
