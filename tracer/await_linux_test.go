package tracer

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sleeping starts a process that does nothing.
func sleeping(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// The end of a process is seen when it is a zombie, when nobody had to ask, and when it came first. With
// and without a descriptor of the process.
func TestAwaitEnd(t *testing.T) {
	for _, by := range []struct {
		name  string
		await func(pid int, over <-chan struct{}) bool
	}{
		{"descriptor", awaitEnd},
		{"poll", func(pid int, over <-chan struct{}) bool {
			return pollEnd(func() bool { return unix.Kill(pid, 0) == nil }, over)
		}},
	} {
		t.Run(by.name, func(t *testing.T) {
			cmd := sleeping(t)
			ended := make(chan bool, 2)
			over := make(chan struct{})
			go func() { ended <- by.await(cmd.Process.Pid, nil) }()
			go func() { ended <- by.await(cmd.Process.Pid, over) }()
			select {
			case <-ended:
				t.Fatal("the process has not ended")
			case <-time.After(50 * time.Millisecond):
			}
			close(over)
			if <-ended {
				t.Error("the end of waiting was taken for that of the process")
			}
			cmd.Process.Kill()
			if by.name == "poll" {
				cmd.Wait() // kill finds a zombie
			}
			if !<-ended {
				t.Error("the end of the process was not seen")
			}
			cmd.Wait()
			if !by.await(cmd.Process.Pid, nil) {
				t.Error("a process that has ended was not seen to have")
			}
		})
	}
}

// A waiting tracer does not look at /proc again and again.
func TestAwaitEndSleeps(t *testing.T) {
	cmd := sleeping(t)
	process, err := openProcess(cmd.Process.Pid)
	if err != nil {
		t.Skip(err) // before Linux 5.10
	}
	ended := make(chan bool, 1)
	go func() { ended <- awaitReadable(process) }()
	cmd.Process.Kill()
	if !<-ended {
		t.Error("the end of the process was not seen by its descriptor")
	}
	process.Close()
}
