package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Capability is the number of a capability, as in linux/capability.h.
type Capability uint

// The capabilities that tracing is about.
const (
	SysPtrace         Capability = 19
	SysAdmin          Capability = 21
	SysResource       Capability = 24
	Perfmon           Capability = 38 // Linux 5.8
	BPF               Capability = 39 // Linux 5.8
	CheckpointRestore Capability = 40 // Linux 5.9
)

var capabilityNames = map[Capability]string{
	SysPtrace: "CAP_SYS_PTRACE", SysAdmin: "CAP_SYS_ADMIN", SysResource: "CAP_SYS_RESOURCE",
	Perfmon: "CAP_PERFMON", BPF: "CAP_BPF", CheckpointRestore: "CAP_CHECKPOINT_RESTORE",
}

// String returns the name as capabilities(7) has it.
func (c Capability) String() string {
	if s, ok := capabilityNames[c]; ok {
		return s
	}
	return "CAP_" + strconv.Itoa(int(c))
}

// Capabilities is a set of them.
type Capabilities uint64

// Has reports whether c is in the set.
func (s Capabilities) Has(c Capability) bool { return s>>c&1 != 0 }

// Effective returns the effective capabilities of this process.
func Effective() (Capabilities, error) {
	s, err := read(os.Getpid(), "status")
	if err != nil {
		return 0, err
	}
	return parseEffective(s)
}

func parseEffective(status string) (Capabilities, error) {
	for line := range strings.Lines(status) {
		if v, ok := strings.CutPrefix(line, "CapEff:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(v), 16, 64)
			return Capabilities(n), err
		}
	}
	return 0, fmt.Errorf("no CapEff line in /proc/%d/status", os.Getpid())
}

// Sysctl returns the integer in /proc/sys/NAME, such as kernel/perf_event_paranoid.
func Sysctl(name string) (int, error) {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(b)))
}
