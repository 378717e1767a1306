//go:build unix

package cli

import (
	"os"
	"syscall"
)

// pipeSignals is what a write to a pipe that nobody reads sends.
var pipeSignals = []os.Signal{syscall.SIGPIPE}

// hangupSignals is what the end of a terminal sends.
var hangupSignals = []os.Signal{syscall.SIGHUP}
