//go:build !plan9

package procfs

import "syscall"

// noProcess is what the kernel says of files of a process that has ended.
const noProcess = syscall.ESRCH
