package bpf

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// initialPIDNamespace is PROC_PID_INIT_INO of the kernel's include/linux/proc_ns.h.
const initialPIDNamespace = 0xEFFFFFFC

// pidNamespace is the namespace that the process numbers of events count in, when it is not
// the initial one: that of this process, whose /proc shows them.
type pidNamespace struct{ device, inode uint64 }

// ownPIDNamespace returns nil in the initial namespace.
func ownPIDNamespace() (*pidNamespace, error) {
	var st unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &st); err != nil {
		return nil, fmt.Errorf("reading this process's PID namespace: %w", err)
	}
	if st.Ino == initialPIDNamespace {
		return nil, nil
	}
	return &pidNamespace{uint64(st.Dev), st.Ino}, nil
}
