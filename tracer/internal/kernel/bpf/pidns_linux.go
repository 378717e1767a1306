package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// initialPIDNamespace is PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
const initialPIDNamespace = 0xEFFFFFFC

// pidNamespace is the namespace that the process numbers of events count in: that of this
// process, whose /proc shows them.
type pidNamespace struct {
	device, inode uint64
	// level is how far it is below the initial one, which sees every process.
	level int
	// types is nil when the kernel does not describe its types. Then processes of namespaces
	// below this one have no number, unless this is the initial one.
	types *kernelTypes
}

func ownPIDNamespace() (*pidNamespace, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return nil, fmt.Errorf("reading this process's PID namespace: %w", err)
	}
	n := &pidNamespace{device: uint64(st.Dev), inode: st.Ino}
	if st.Ino == initialPIDNamespace {
		return n, nil
	}
	n.level = 1 // below the initial one, at least
	types, err := loadKernelTypes()
	if err != nil {
		return n, nil
	}
	if n.level, err = ownLevel(types); err != nil {
		return nil, err
	}
	n.types = types
	return n, nil
}

// ownLevel asks the kernel for the level of this process's namespace, which nothing in user
// space tells, by a program that it runs right here.
func ownLevel(k *kernelTypes) (int, error) {
	prog, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Name: "waymark_level", Type: ebpf.RawTracepoint, License: "Dual MIT/GPL",
		Instructions: join(
			asm.FnGetCurrentTask.Call(), asm.StoreMem(asm.RFP, stackTask, asm.R0, asm.DWord),
			step(stackTask, k.taskPID), readKernel(stackNumber, stackTask, k.pidLevel, 4),
			asm.LoadMem(asm.R0, asm.RFP, stackNumber, asm.Word), asm.Return()),
	})
	if err != nil {
		return 0, fmt.Errorf("loading eBPF program waymark_level: %w", err)
	}
	defer prog.Close()
	level, err := prog.Run(&ebpf.RunOptions{Context: make([]byte, 8*12)})
	if err != nil {
		return 0, fmt.Errorf("asking for the level of this process's PID namespace: %w", err)
	}
	// MAX_PID_NS_LEVEL of kernel/pid_namespace.c.
	if level == 0 || level > 32 {
		return 0, fmt.Errorf("the level of this process's PID namespace cannot be %d", level)
	}
	return int(level), nil
}
