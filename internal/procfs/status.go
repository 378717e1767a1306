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
