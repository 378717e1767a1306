//go:build !unix

package cli

import "os"

var pipeSignals []os.Signal
