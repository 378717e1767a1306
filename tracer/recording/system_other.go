//go:build !linux

package recording

import (
	"runtime"
	"time"

	"github.com/waymark-trace/waymark/ctf"
)

// began is when this process started to count: there is no clock that others could share.
var began = time.Now()

func wallOffset() time.Duration { return time.Duration(began.UnixNano()) }

func bootID() ctf.UUID { return ctf.UUID{} }

func system() []ctf.EnvEntry { return []ctf.EnvEntry{Text("sysname", runtime.GOOS)} }
