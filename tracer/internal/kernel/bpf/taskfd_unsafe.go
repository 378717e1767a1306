//go:build linux

package bpf

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// taskFD is the part of union bpf_attr that BPF_TASK_FD_QUERY uses (include/uapi/linux/bpf.h).
type taskFD struct {
	pid, fd, flags, size uint32
	buf                  *byte
	prog, kind           uint32
	offset, address      uint64
}

// The kinds of probes, enum bpf_task_fd_type.
const (
	kindUprobe    = 4
	kindUretprobe = 5
)

// queryUprobe returns where the uprobe of a process's perf event is. ENOENT means that the event has no program, EINVAL that it is none of
// a uprobe.
func queryUprobe(pid, fd int) (path string, offset uint64, err error) {
	var buf [unix.PathMax]byte
	q := taskFD{pid: uint32(pid), fd: uint32(fd), size: uint32(len(buf)), buf: &buf[0]}
	_, _, e := unix.Syscall(unix.SYS_BPF, unix.BPF_TASK_FD_QUERY, uintptr(unsafe.Pointer(&q)), unsafe.Sizeof(q))
	runtime.KeepAlive(&buf)
	switch {
	case e != 0:
		return "", 0, e
	case q.kind != kindUprobe && q.kind != kindUretprobe:
		return "", 0, unix.EINVAL
	}
	return unix.ByteSliceToString(buf[:]), q.offset, nil
}
