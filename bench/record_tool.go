package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// sharedMemory is where the agent has its rings, as LTTng has: on a disk the kernel would write them there, and
// writers would meet its page faults. "" where there is none.
func sharedMemory() string {
	const shm = "/dev/shm"
	if info, err := os.Stat(shm); err != nil || !info.IsDir() {
		return ""
	}
	return shm
}

// recordTool is waymark record and the program that it records, through the program's agent.
type recordTool struct {
	target *target
	cmd    *exec.Cmd
	out    bytes.Buffer
}

// startRecordTool returns once the program is recorded.
func startRecordTool(dir, work, program string) (t *recordTool, err error) {
	t = &recordTool{}
	if t.target, err = startTarget(program, exec.Command(program)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			t.close()
		}
	}()
	if _, err = t.target.ask("agent"); err != nil {
		return nil, err
	}
	t.cmd = exec.Command(filepath.Join(dir, "waymark"), "record", "--engine", "agent",
		"-p", t.target.pid(), "-o", filepath.Join(work, "trace"), "bench:*")
	t.cmd.Stdout, t.cmd.Stderr = &t.out, &t.out
	if err = t.cmd.Start(); err != nil {
		t.cmd = nil
		return nil, err
	}
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		armed, err := t.target.ask("armed")
		if err != nil || armed == "true" {
			return t, err
		}
	}
	return nil, fmt.Errorf("waymark record has not begun: %s", &t.out)
}

// end ends the recording, which must have lost nothing.
func (t *recordTool) end() error {
	err := t.cmd.Process.Signal(os.Interrupt)
	if err == nil {
		err = t.cmd.Wait()
	}
	t.cmd = nil
	if err == nil && !strings.Contains(t.out.String(), " events, 0 lost, ") {
		err = fmt.Errorf("events were lost: %s", &t.out)
	}
	return err
}

func (t *recordTool) close() {
	if t.cmd != nil {
		_ = t.cmd.Process.Kill()
		_ = t.cmd.Wait()
	}
	t.target.stop()
}
