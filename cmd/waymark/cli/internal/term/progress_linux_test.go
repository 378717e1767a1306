package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal returns both sides of a pseudo-terminal with a width.
func terminal(t *testing.T, width uint16) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	if err := unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: width}); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TERM", "xterm")
	return master, slave
}

// until reads what was written to a terminal until it contains a text.
func until(t *testing.T, master io.Reader, text string) string {
	t.Helper()
	var all strings.Builder
	for b := make([]byte, 4096); !strings.Contains(all.String(), text); {
		n, err := master.Read(b)
		if err != nil {
			t.Fatalf("%v after %q, want %q", err, all.String(), text)
		}
		all.Write(b[:n])
	}
	return all.String()
}

// A step that lasts is reported with what it has done so far, in one row, and the report goes when messages come and
// when the step ends.
func TestProgress(t *testing.T) {
	master, slave := terminal(t, 30)
	e := NewEnv(Streams{Stderr: slave, Stdout: slave})
	var n atomic.Int64
	done := e.ProgressOf(func() string { return fmt.Sprintf("reading 漢字漢字, %d of many events", n.Add(1)) })
	got := until(t, master, "\r\x1b[Kwaymark: reading 漢字漢字, 2…")
	if strings.Contains(got, "\n") {
		t.Errorf("%q has several rows", got)
	}
	e.Message("one")
	if got := until(t, master, "one\r\n"); !strings.HasSuffix(got, "\r\x1b[Kwaymark: one\r\n") {
		t.Errorf("%q: the message does not replace the report", got)
	}
	until(t, master, "漢字, 3…")
	done()
	done()
	e.Message("end")
	if got := until(t, master, "end\r\n"); got != "\r\x1b[Kwaymark: end\r\n" {
		t.Errorf("%q: the report stays", got)
	}
}

// Nothing is reported where standard error is no terminal.
func TestProgressInFile(t *testing.T) {
	var b strings.Builder
	e := NewEnv(Streams{Stderr: &b, Stdout: &b})
	called := false
	e.ProgressOf(func() string { called = true; return "" })()
	if called || b.Len() > 0 {
		t.Errorf("%q was written", b.String())
	}
}
