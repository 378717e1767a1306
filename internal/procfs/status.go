package procfs

import (
	"fmt"
	"strconv"
	"strings"
)

// Status returns fields of /proc/PID/status, "" for those that this kernel does not have.
func Status(pid int, names ...string) (values []string, err error) {
	s, err := read(pid, "status")
	if err != nil {
		return nil, err
	}
	values = make([]string, len(names))
	for line := range strings.Lines(s) {
		key, value, _ := strings.Cut(line, ":")
		for i, name := range names {
			if key == name {
				values[i] = strings.TrimSpace(value)
			}
		}
	}
	return values, nil
}

// TracerPID returns which process traces another by ptrace, 0 for none.
func TracerPID(pid int) (int, error) {
	v, err := Status(pid, "TracerPid")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(v[0])
	if err != nil {
		return 0, fmt.Errorf("TracerPid of process %d: %w", pid, err)
	}
	return n, nil
}

// OwnPID returns the PID of a process in its own PID namespace, if that is below the namespace of
// /proc; 0 for others, and on kernels that do not report it (before Linux 4.1).
func OwnPID(pid int) (int, error) {
	v, err := Status(pid, "NSpid") // from the namespace of /proc downwards
	if err != nil {
		return 0, err
	}
	all := strings.Fields(v[0])
	if len(all) < 2 {
		return 0, nil
	}
	own, err := strconv.Atoi(all[len(all)-1])
	if err != nil {
		return 0, fmt.Errorf("NSpid of process %d: %w", pid, err)
	}
	return own, nil
}
