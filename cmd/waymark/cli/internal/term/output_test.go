package term

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// brokenPipe takes some bytes and then no more.
type brokenPipe struct{ room int }

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.room -= len(b); p.room < 0 {
		return 0, syscall.EPIPE
	}
	return len(b), nil
}

func TestOutputFails(t *testing.T) {
	out, err := NewEnv(Streams{Stdout: &brokenPipe{room: 5}}).OpenOutput("", false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	select {
	case <-out.Failed: // by itself, without another write
	case <-time.After(2 * time.Minute):
		t.Fatal("a reader that went away was not noticed")
	}
	if _, err := out.Write([]byte("line\n")); !IsBrokenPipe(err) {
		t.Errorf("writing: %v, want a broken pipe", err)
	}
	if err := out.Close(); !IsBrokenPipe(err) {
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
		out, err := NewEnv(Streams{Stdout: &stdout, Stderr: &stderr}).OpenOutput(tt.path, tt.command)
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
	if isScreen(master) || StyleFor(master).on {
		t.Error("a dumb terminal is a screen")
	}
}

// Results have arguments of programs, so nobody else may read the file of -o. One that is there keeps its mode.
func TestOutputIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes there")
	}
	dir := t.TempDir()
	shared := filepath.Join(dir, "shared")
	if err := os.WriteFile(shared, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{filepath.Join(dir, "new"): 0o600, shared: 0o640} {
		f, err := openOutputFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = f.Write([]byte("x"))
		_ = f.Close()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want mode %o", path, info.Mode(), err, want)
		}
	}
}
