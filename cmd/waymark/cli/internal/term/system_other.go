//go:build !unix

package term

import (
	"os"
	"os/exec"
)

// These platforms have no such signals and error numbers.

var pipeSignals, hangupSignals []os.Signal

func readerLeft(error) bool { return false }

// DiskFull reports whether err means that the disk is full.
func DiskFull(error) bool { return false }

// EndedBySignal returns the signal that ended a command, if one did.
func EndedBySignal(*exec.ExitError) (signal int, ok bool) { return 0, false }
