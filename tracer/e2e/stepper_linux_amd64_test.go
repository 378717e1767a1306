package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// stopper runs a program and stops it at some addresses, as a debugger does. It reads the same
// registers and memory as a probe, and needs no privilege.
type stopper struct {
	pid  int
	regs syscall.PtraceRegs
	mem  *os.File
}

// run executes a program that is not position-independent, and calls at whenever it comes to one
// of the addresses.
func (s *stopper) run(path string, addresses []uint64, at func(address uint64)) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.pid = cmd.Process.Pid
	ended := false
	defer func() {
		if !ended {
			_ = cmd.Process.Kill()
			_, _ = syscall.Wait4(s.pid, nil, 0, nil)
		}
	}()
	var status syscall.WaitStatus
	wait := func() error {
		_, err := syscall.Wait4(s.pid, &status, 0, nil)
		ended = status.Exited() || status.Signaled()
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	var err error
	if s.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", s.pid), os.O_RDWR, 0); err != nil {
		return err
	}
	defer s.mem.Close()
	original := map[uint64]byte{}
	trap := []byte{0xcc}
	for _, a := range addresses {
		var b [1]byte
		if _, err := s.mem.ReadAt(b[:], int64(a)); err != nil {
			return err
		}
		if _, ok := original[a]; !ok {
			original[a] = b[0]
		}
		if _, err := s.mem.WriteAt(trap, int64(a)); err != nil {
			return err
		}
	}
	for {
		if err := syscall.PtraceCont(s.pid, 0); err != nil {
			return err
		}
		if err := wait(); err != nil {
			return err
		}
		if ended {
			if status.ExitStatus() != 0 {
				return fmt.Errorf("%s ended with %#x", path, int(status))
			}
			return nil
		}
		if err := syscall.PtraceGetRegs(s.pid, &s.regs); err != nil {
			return err
		}
		s.regs.Rip--
		first, ok := original[s.regs.Rip]
		if !ok || status.StopSignal() != syscall.SIGTRAP {
			return fmt.Errorf("%s stopped by %v at %#x", path, status.StopSignal(), s.regs.Rip)
		}
		here := s.regs.Rip
		at(here)
		if err := syscall.PtraceSetRegs(s.pid, &s.regs); err != nil {
			return err
		}
		if _, err := s.mem.WriteAt([]byte{first}, int64(here)); err != nil {
			return err
		}
		if err := syscall.PtraceSingleStep(s.pid); err != nil {
			return err
		}
		if err := wait(); err != nil {
			return err
		}
		if ended {
			return fmt.Errorf("%s ended in a step", path)
		}
		if _, err := s.mem.WriteAt(trap, int64(here)); err != nil {
			return err
		}
	}
}

// register returns a register by the number that DWARF gives it: AMD64 ABI, figure 3.36.
func (s *stopper) register(n int64) uint64 {
	r := &s.regs
	return [...]uint64{r.Rax, r.Rdx, r.Rcx, r.Rbx, r.Rsi, r.Rdi, r.Rbp, r.Rsp, r.R8, r.R9, r.R10, r.R11, r.R12, r.R13, r.R14, r.R15, r.Rip}[n]
}

// evaluate returns the number that a program leaves, as an eBPF program computes it.
func (s *stopper) evaluate(p location.Program) (int64, error) {
	var stack []int64
	for _, step := range p {
		n := len(stack)
		switch {
		case step.Op == location.Push:
			stack = append(stack, step.Arg)
		case step.Op == location.Register:
			stack = append(stack, int64(s.register(step.Arg)))
		case step.Op == location.Deref:
			var b [8]byte
			if _, err := s.mem.ReadAt(b[:step.Arg], stack[n-1]); err != nil {
				return 0, err
			}
			v := uint64(0)
			for i := 7; i >= 0; i-- {
				v = v<<8 | uint64(b[i])
			}
			stack[n-1] = int64(v)
		case step.Op == location.Neg:
			stack[n-1] = -stack[n-1]
		case step.Op == location.Not:
			stack[n-1] = ^stack[n-1]
		default:
			stack = append(stack[:n-2], operate(step.Op, stack[n-2], stack[n-1]))
		}
	}
	return stack[0], nil
}

func operate(op location.Op, a, b int64) int64 {
	truth := map[bool]int64{true: 1}
	switch op {
	case location.Add:
		return a + b
	case location.Sub:
		return a - b
	case location.Mul:
		return a * b
	case location.And:
		return a & b
	case location.Or:
		return a | b
	case location.Xor:
		return a ^ b
	case location.Shl:
		return a << (uint64(b) & 63)
	case location.Shr:
		return int64(uint64(a) >> (uint64(b) & 63))
	case location.Sar:
		return a >> (uint64(b) & 63)
	case location.Less:
		return truth[a < b]
	case location.LessEqual:
		return truth[a <= b]
	case location.Equal:
		return truth[a == b]
	case location.NotEqual:
		return truth[a != b]
	}
	panic(op)
}
