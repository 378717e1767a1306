package peer

import (
	"os"
	"sync"
	"syscall"
	"testing"
)

// events is this process's hold on the kernel's events.
var events struct {
	sync.Mutex
	holders int
	file    *os.File
}

// KernelEvents requires root and the kernel's file of user-space probe events, and has it to this process until
// the test ends. perf, and so everybody, names events after the marker alone: tests of two packages,
// which run at once, would delete each other's.
func KernelEvents(t testing.TB) {
	t.Helper()
	Root(t)
	events.Lock()
	defer events.Unlock()
	if events.holders == 0 {
		f, err := openEvents()
		if err != nil {
			Missing(t, "tracefs: "+err.Error())
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			f.Close()
			t.Fatalf("locking %s: %v", f.Name(), err)
		}
		events.file = f
	}
	events.holders++
	t.Cleanup(func() {
		events.Lock()
		defer events.Unlock()
		if events.holders--; events.holders == 0 {
			events.file.Close()
		}
	})
}

func openEvents() (f *os.File, err error) {
	for _, dir := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
		if f, err = os.Open(dir + "/uprobe_events"); err == nil {
			break
		}
	}
	return f, err
}
