package procfs

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/peer"
	"github.com/waymark-trace/waymark/internal/talk"
)

// Memory stays that of the program that ran when it was opened, and a process has another image
// after execve.
func TestMemoryEndsWithExec(t *testing.T) {
	peer.Root(t)
	sh := talk.Start(t, exec.Command("sh", "-c", "read x; exec cat"))
	pid := sh.PID()
	m, err := OpenMemory(pid, true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	before, err := ReadImage(pid, m)
	for deadline := time.Now().Add(2 * time.Minute); err == errImage && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // Start returns when execve closes files, before it is done
		before, err = ReadImage(pid, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ReadImage(pid, m); err != nil || again != before {
		t.Errorf("image %+v, then %+v, %v", before, again, err)
	}
	if err := m.SetCounter(before.Address, 1<<16-2); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Counter(before.Address); err != nil || v != 1<<16-2 {
		t.Errorf("wrote 65534, read %d, %v", v, err)
	}
	sh.Tell("go")
	if said := sh.Ask("cat?"); said != "cat?" {
		t.Fatalf("cat echoes %q", said)
	}
	if _, err := m.Counter(before.Address); !Gone(err) {
		t.Errorf("reading what execve replaced: %v", err)
	}
	if err := m.SetCounter(before.Address, 1); !Gone(err) {
		t.Errorf("writing what execve replaced: %v", err)
	}
	now, err := OpenMemory(pid, false)
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	if after, err := ReadImage(pid, now); err != nil || after == before {
		t.Errorf("image %+v after execve, %v: the same", after, err)
	}
	if err := now.SetCounter(before.Address, 1); err == nil {
		t.Error("wrote what was opened for reading")
	}
	if _, err := OpenMemory(os.Getpid(), true); err != nil {
		t.Error(err)
	}
}

func TestStopped(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for _, want := range []bool{false, true, false} {
		if want {
			cmd.Process.Signal(syscall.SIGSTOP)
		} else {
			cmd.Process.Signal(syscall.SIGCONT)
		}
		// Both signals take effect, or are pending, when they have been sent.
		if got, err := Stopped(cmd.Process.Pid); got != want || err != nil {
			t.Errorf("stopped: %t, %v, want %t", got, err, want)
		}
	}
}
