package rundir

import (
	"fmt"
	"strconv"
	"strings"
)

// Process is a process by number and by when it began, which tells it from later ones of its number.
type Process struct {
	PID   int    // in the process's own namespace of numbers
	Start uint64 // in clock ticks since boot
}

// String returns what the files of the process are named after.
func (p Process) String() string { return fmt.Sprintf("%d-%d", p.PID, p.Start) }

// Socket returns the name of the process's socket.
func (p Process) Socket() string { return p.String() + socketSuffix }

const (
	socketSuffix = ".sock"
	// RingSuffix ends the name of a ring file.
	RingSuffix = ".ring"
)

// ParseProcess is the inverse of Process.String.
func ParseProcess(name string) (Process, bool) {
	pid, start, ok := strings.Cut(name, "-")
	var p Process
	var err, err2 error
	p.PID, err = strconv.Atoi(pid)
	p.Start, err2 = strconv.ParseUint(start, 10, 64)
	return p, ok && err == nil && err2 == nil && p.PID > 0 && p.String() == name
}

// CheckSession reports whether a session may have a name: it becomes that of a file.
func CheckSession(name string) error {
	if name == "" || len(name) > maxSession || strings.HasPrefix(name, ".") || strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r))
	}) >= 0 {
		return fmt.Errorf("%.80q is no name for a session: it takes 1 to %d letters, digits, . _ and -, and begins with no dot", name, maxSession)
	}
	return nil
}

const maxSession = 64
