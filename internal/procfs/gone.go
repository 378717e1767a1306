//go:build !plan9

package procfs

import "syscall"

// noProcess is the kernel's error for files of a process that has ended.
const noProcess = syscall.ESRCH
