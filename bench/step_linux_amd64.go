package main

import (
	"debug/elf"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/bench/pin"
)

// maxSteps bounds what is counted: a hundred times what a small program needs.
const maxSteps = 100_000_000

// countInstructions returns how many instructions the first thread of a program executes
// until it reaches a function. The program runs on one CPU: the one with this index among those of this process. Each repetition of a repeated one counts, and a call of the
// kernel is one. Initialization happens on that thread.
func countInstructions(path, function string, cpu int) (int, error) {
	entry, err := address(path, function)
	if err != nil {
		return 0, err
	}
	cpus, err := pin.CPUs()
	if err != nil {
		return 0, err
	}
	type count struct {
		n   int
		err error
	}
	counted := make(chan count)
	// Only the thread that started the program may trace it, and on one CPU they need not wait
	// for each other to wake.
	go func() {
		if err := pin.Thread(cpus[cpu%len(cpus)]); err != nil {
			counted <- count{0, err}
			return
		}
		n, err := stepTo(path, entry)
		counted <- count{n, err}
	}()
	c := <-counted
	return c.n, c.err
}

func stepTo(path string, entry uint64) (int, error) {
	cmd := exec.Command(path)
	cmd.Env = []string{"GOMAXPROCS=1", "GOGC=off"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil || !status.Stopped() {
		return 0, fmt.Errorf("waiting for %s to start: status %#x: %w", path, status, err)
	}
	for n := range maxSteps {
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(pid, &regs); err != nil {
			return 0, fmt.Errorf("reading registers of %s: %w", path, err)
		}
		if regs.Rip == entry {
			return n, nil
		}
		if err := unix.PtraceSingleStep(pid); err != nil {
			return 0, fmt.Errorf("stepping %s: %w", path, err)
		}
		if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil || !status.Stopped() {
			return 0, fmt.Errorf("stepping %s: status %#x: %w", path, status, err)
		}
	}
	return 0, fmt.Errorf("%s did not reach %#x within %d instructions", path, entry, maxSteps)
}

func address(path, function string) (uint64, error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	s, err := symbol(f, function)
	return s.Value, err
}
