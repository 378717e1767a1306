package feature

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// sysUprobe is uprobe(2), which the kernel's own trampoline calls for an optimized uprobe.
const sysUprobe = 336

// askGeneration calls it from where no trampoline is. The errors are those of
// SYSCALL_DEFINE0(uprobe) in arch/x86/kernel/uprobes.c, and libbpf's src/features.c asks alike.
func askGeneration() (Generation, error) {
	switch _, _, errno := unix.RawSyscall(sysUprobe, 0, 0, 0); errno {
	case unix.ENOSYS:
		return Breakpoint, nil
	case unix.ENXIO:
		return Nop5, nil
	case unix.EPROTO:
		return Nop10, nil
	default:
		// A seccomp filter answers with an error of its own.
		return Breakpoint, fmt.Errorf("asking for optimized uprobes: uprobe(2) returned %w", errno)
	}
}
