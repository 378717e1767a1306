package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

func TestReport(t *testing.T) {
	permission := &tracer.PermissionError{Op: "attaching to a:b", Capability: "CAP_BPF", Err: syscall.EPERM}
	tests := []struct {
		err    error
		status int
		want   string
	}{
		{nil, 0, ""},
		{fmt.Errorf("writing: %w", syscall.EPIPE), 0, ""},
		{statusFailure(7), 7, ""},
		{context.Canceled, 130, ""},
		{usage("this way", "no %s", "sense"), 2, "error: no sense\nhint: this way\n"},
		{errors.New("a\x1b[2Jb"), 1, "error: a\\x1b[2Jb\n"},
		{errors.Join(errors.New("one"), errors.New("two")), 1, "error: one\nerror: two\n"},
		{withHint(io.EOF, "try %d", 2), 1, "error: EOF\nhint: try 2\n"},
		{fmt.Errorf("x: %w", tracer.ErrNoProcess), 1, "error: x: no such process\nhint: waymark list shows the running processes that have markers\n"},
		{permission, 1, "error: attaching to a:b: permission denied: missing CAP_BPF\nhint: run it as root, or give waymark the capability: setcap cap_bpf+ep waymark\n"},
		{&tracer.PermissionError{Op: "x", Hint: "do this."}, 1, "error: x: permission denied\nhint: do this\n"},
		{&tracer.PermissionError{Op: "x"}, 1, "error: x: permission denied\nhint: run it as root\n"},
		{&tracer.NoMatchError{Pattern: "z*"}, 1, "error: no marker matches \"z*\"\nhint: there are no markers\n"},
		{&tracer.NoMatchError{Pattern: "z*", Available: []string{"a:b", "a:\x1bc"}, Total: 2}, 1, "error: no marker matches \"z*\"\nhint: there is a:b and a:\\x1bc\n"},
		{&tracer.NoMatchError{Pattern: "z*", Available: []string{"a:b", "a:c"}, Total: 9}, 1, "error: no marker matches \"z*\"\nhint: there is a:b, a:c, and 7 more that waymark list shows\n"},
	}
	for _, tt := range tests {
		var b bytes.Buffer
		if got := (&Env{Stderr: &b}).report(tt.err); got != tt.status {
			t.Errorf("%v: status %d, want %d", tt.err, got, tt.status)
		}
		if d := cmp.Diff(tt.want, strings.ReplaceAll(b.String(), "waymark: ", "")); d != "" {
			t.Errorf("%v (-want +got):\n%s", tt.err, d)
		}
	}
}

// Every sentinel has a hint, in the form that messages have.
func TestHints(t *testing.T) {
	for _, err := range []error{
		tracer.ErrNotSupported, tracer.ErrNoProcess, tracer.ErrChanged, tracer.ErrCounterConflict,
		link.ErrNotELF, link.ErrNotGo, link.ErrNotExecutable, link.ErrArchitecture, link.ErrNoMarkers, link.ErrNoRecords, link.ErrMadeLate,
		link.ErrVersion, link.ErrLayout, link.ErrMarker, link.ErrTooMany,
	} {
		_, hint := explain(fmt.Errorf("linking x: %w", err))
		if hint == "" || strings.HasSuffix(hint, ".") {
			t.Errorf("%v: hint %q", err, hint)
		}
	}
}

// brokenPipe takes some bytes and then no more.
type brokenPipe struct{ room int }

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.room -= len(b); p.room < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

func TestOutputFails(t *testing.T) {
	out, err := (&Env{Stdout: &brokenPipe{room: 5}}).openOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	if err := out.flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-out.failed: // by itself, without another write
	case <-time.After(2 * time.Minute):
		t.Fatal("a reader that went away was not noticed")
	}
	if _, err := out.Write([]byte("line\n")); !isBrokenPipe(err) {
		t.Errorf("writing: %v, want a broken pipe", err)
	}
	if err := out.Close(); !isBrokenPipe(err) {
		t.Errorf("closing: %v, want a broken pipe", err)
	}
}

func TestOutputGoesTo(t *testing.T) {
	for _, tt := range []struct {
		path    string
		command bool
		want    string
	}{
		{"", false, "stdout"}, {"", true, "stderr"}, {"-", true, "stdout"}, {"-", false, "stdout"},
	} {
		var stdout, stderr bytes.Buffer
		out, err := (&Env{Stdout: &stdout, Stderr: &stderr}).openOutput(tt.path, tt.command)
		if err != nil {
			t.Fatal(err)
		}
		out.Write([]byte("x"))
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		got := map[bool]string{true: "stdout", false: "stderr"}[stdout.Len() > 0]
		if got != tt.want || stdout.Len()+stderr.Len() != 1 {
			t.Errorf("-o %q, command %v: %s, want %s", tt.path, tt.command, got, tt.want)
		}
	}
}

// A terminal that cannot move its cursor is written to like a file.
func TestDumbTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	defer master.Close()
	if !isTerminal(master) {
		t.Skip("a pseudo-terminal that is none")
	}
	t.Setenv("TERM", "xterm")
	if !isScreen(master) {
		t.Error("xterm is no screen")
	}
	t.Setenv("TERM", "dumb")
	if isScreen(master) || styleFor(master).on {
		t.Error("a dumb terminal is a screen")
	}
}
