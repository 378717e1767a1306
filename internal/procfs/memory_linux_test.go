package procfs

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/internal/test/talk"
)

// Memory stays that of the program that ran when it was opened.
func TestMemoryEndsWithExec(t *testing.T) {
	peer.Root(t)
	sh := talk.Start(t, exec.Command("sh", "-c", "read x; exec cat"))
	pid := sh.PID()
	m, err := OpenMemory(pid, true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	address := stackEnd(t, pid) - 8 // where execve leaves a word of zeros
	if err := m.SetCounter(address, 1<<16-2); err != nil {
		t.Fatal(err)
	}
	if v, err := m.Counter(address); err != nil || v != 1<<16-2 {
		t.Errorf("wrote 65534, read %d, %v", v, err)
	}
	sh.Tell("go")
	if said := sh.Ask("cat?"); said != "cat?" {
		t.Fatalf("cat echoes %q", said)
	}
	if _, err := m.Counter(address); !Gone(err) {
		t.Errorf("reading what execve replaced: %v", err)
	}
	if err := m.SetCounter(address, 1); !Gone(err) {
		t.Errorf("writing what execve replaced: %v", err)
	}
	now, err := OpenMemory(pid, false)
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	if v, err := now.Counter(stackEnd(t, pid) - 8); err != nil || v != 0 {
		t.Errorf("read %d, %v after execve, want the new memory's 0", v, err)
	}
	if err := now.SetCounter(address, 1); err == nil {
		t.Error("wrote what was opened for reading")
	}
	if _, err := OpenMemory(os.Getpid(), true); err != nil {
		t.Error(err)
	}
}

// stackEnd returns the address where a process's stack ends.
func stackEnd(t *testing.T, pid int) uint64 {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		maps, err := Maps(pid)
		if err != nil {
			t.Fatal(err)
		}
		for i := range maps {
			if maps[i].Path == "[stack]" {
				return maps[i].End
			}
		}
	}
	t.Fatalf("process %d has no stack", pid)
	return 0
}
