//go:build unix

package term

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// pipeSignals is what a write to a pipe that nobody reads sends.
var pipeSignals = []os.Signal{syscall.SIGPIPE}

// hangupSignals is what the end of a terminal sends.
var hangupSignals = []os.Signal{syscall.SIGHUP}

// readerLeft reports whether err says that nobody reads what is written any more.
func readerLeft(err error) bool { return errors.Is(err, syscall.EPIPE) }

// DiskFull reports whether err says that there is no room.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// EndedBySignal returns the signal that ended a command, if one did.
func EndedBySignal(exit *exec.ExitError) (signal int, ok bool) {
	ws, ok := exit.Sys().(syscall.WaitStatus)
	return int(ws.Signal()), ok && ws.Signaled()
}
