//go:build linux && amd64

package killed

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are the system calls that the driver is told of: those that change something, and some that do with certain arguments.
var calls = []uint32{
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_IOCTL, unix.SYS_MMAP,
	unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_SENDMSG, unix.SYS_COPY_FILE_RANGE,
	unix.SYS_OPENAT, unix.SYS_MKDIRAT, unix.SYS_MKDIR, unix.SYS_LINKAT, unix.SYS_SYMLINKAT,
	unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_RMDIR,
	unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHOWN, unix.SYS_FSETXATTR,
}

// installFilter has the tracer of this thread, and of what it executes and forks, told of calls.
func installFilter() error {
	jump := func(value uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: uint8(yes), Jf: uint8(no)}
	}
	ret := func(value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
	}
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}} // nr, the first member of struct seccomp_data
	for i, nr := range calls {
		program = append(program, jump(nr, len(calls)-i, 0))
	}
	program = append(program, ret(unix.SECCOMP_RET_ALLOW), ret(unix.SECCOMP_RET_TRACE))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(program)
	if e != 0 {
		return e
	}
	return nil
}
