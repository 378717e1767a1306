package recording

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/ctf"
)

// wallOffset returns what CLOCK_MONOTONIC is behind the time since 1970: the middle of two readings of
// the one around one of the other, and of a few of those the one that took least.
func wallOffset() time.Duration {
	var offset, least time.Duration
	for range 8 {
		var before, after unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &before) != nil {
			return 0
		}
		now := time.Now().UnixNano()
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &after) != nil {
			return 0
		}
		if took := time.Duration(after.Nano() - before.Nano()); least == 0 || took < least {
			offset, least = time.Duration(now-before.Nano())-took/2, max(took, 1)
		}
	}
	return offset
}

// bootID identifies the clock: it began with this boot.
func bootID() ctf.UUID {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ctf.UUID{}
	}
	id, _ := ctf.ParseUUID(strings.TrimSpace(string(text)))
	return id
}

func system() []ctf.EnvEntry {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return nil
	}
	return []ctf.EnvEntry{
		Text("sysname", unix.ByteSliceToString(u.Sysname[:])),
		Text("kernel_release", unix.ByteSliceToString(u.Release[:])),
		Text("kernel_version", unix.ByteSliceToString(u.Version[:])),
	}
}
