//go:build !plan9

package cli

import (
	"errors"
	"os/exec"
	"syscall"
)

// readerLeft reports whether err says that nobody reads what is written any more.
func readerLeft(err error) bool { return errors.Is(err, syscall.EPIPE) }

// diskFull reports whether err says that there is no room.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// endedBySignal returns the signal that ended a command, if one did.
func endedBySignal(exit *exec.ExitError) (signal int, ok bool) {
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return int(ws.Signal()), ok && ws.Signaled()
}
