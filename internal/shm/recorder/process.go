package recorder

import (
	"os"
	"runtime"
	"runtime/debug"

	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// describeProcess says what program this is.
func describeProcess(session string) ring.Info {
	i := ring.Info{Session: session, PID: os.Getpid(), Start: startTime(), Go: runtime.Version(), BootID: ring.BootID()}
	if exe, err := os.Executable(); err == nil && len(exe) <= 4096 {
		i.Executable = exe
	}
	if b, ok := debug.ReadBuildInfo(); ok {
		i.Module = b.Main.Path
	}
	return i
}
