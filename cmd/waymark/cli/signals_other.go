//go:build !unix

package cli

import "os"

var pipeSignals []os.Signal

var hangupSignals []os.Signal
