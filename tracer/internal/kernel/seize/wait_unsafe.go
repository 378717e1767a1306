//go:build linux

package seize

import (
	"math/bits"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stopStatus returns what a traced thread has stopped for, 0 while it runs: the signal, and above its 8 bits the
// event of ptrace. It leaves its end to others. The error is unix.ECHILD if there is no such thread.
func stopStatus(thread int) (int, error) {
	var info [128]byte // siginfo_t, include/uapi/asm-generic/siginfo.h
	_, _, errno := unix.Syscall6(unix.SYS_WAITID, unix.P_PID, uintptr(thread), uintptr(unsafe.Pointer(&info)),
		unix.WSTOPPED|unix.WNOHANG|unix.WALL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	status := 20 // si_status, after si_pid and si_uid
	if bits.UintSize == 64 {
		status = 24 // the union is aligned
	}
	return int(*(*int32)(unsafe.Pointer(&info[status]))), nil
}
