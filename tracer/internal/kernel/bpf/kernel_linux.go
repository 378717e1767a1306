package bpf

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cilium/ebpf/btf"
)

// kernelTypes are where the running kernel has what we read of its structures, in bytes.
type kernelTypes struct {
	taskLeader, taskPID, taskSignal, taskParent int // struct task_struct
	signalLive, signalTTY, signalPIDs           int // struct signal_struct
	pidLevel, pidNumbers                        int // struct pid
	numberSize, numberNr, numberNS              int // struct upid
	nsInode                                     int // struct pid_namespace
}

// ErrNoTypes says that the kernel does not describe its types.
var ErrNoTypes = errors.New("reading the kernel's types")

// loadKernelTypes reads the kernel's own description of its types, which Linux 5.4 and later
// have when CONFIG_DEBUG_INFO_BTF is set. Programs could be relocated by the library, but are
// assembled here: offsets are simpler.
var loadKernelTypes = sync.OnceValues(func() (*kernelTypes, error) {
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("%w: %w: %w", ErrNoTypes, ErrNotSupported, err)
	}
	k := &kernelTypes{}
	for _, want := range []struct {
		to   *int
		name string
		path []string
	}{
		{&k.taskLeader, "task_struct", []string{"group_leader"}},
		{&k.taskPID, "task_struct", []string{"thread_pid"}}, // Linux 4.19; any kernel with BTF
		{&k.taskSignal, "task_struct", []string{"signal"}},
		{&k.taskParent, "task_struct", []string{"real_parent"}},
		{&k.signalLive, "signal_struct", []string{"live", "counter"}},
		{&k.signalTTY, "signal_struct", []string{"tty"}},
		{&k.signalPIDs, "signal_struct", []string{"pids"}},
		{&k.pidLevel, "pid", []string{"level"}},
		{&k.pidNumbers, "pid", []string{"numbers"}},
		{&k.numberNr, "upid", []string{"nr"}},
		{&k.numberNS, "upid", []string{"ns"}},
		{&k.nsInode, "pid_namespace", []string{"ns", "inum"}},
	} {
		var s *btf.Struct
		if err := spec.TypeByName(want.name, &s); err != nil {
			return nil, fmt.Errorf("struct %s: %w: %w", want.name, ErrNotSupported, err)
		}
		at, ok := offset(s, want.path)
		if !ok {
			return nil, fmt.Errorf("struct %s has no %v: %w", want.name, want.path, ErrNotSupported)
		}
		*want.to = at
		if want.name == "upid" {
			k.numberSize = int(s.Size)
		}
	}
	return k, nil
})

// offset returns where a member of a member … lies, in bytes. Anonymous members are looked through.
func offset(t btf.Type, path []string) (int, bool) {
	if len(path) == 0 {
		return 0, true
	}
	var members []btf.Member
	switch t := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		members = t.Members
	case *btf.Union:
		members = t.Members
	}
	for _, m := range members {
		rest := path
		switch m.Name {
		case path[0]:
			rest = path[1:]
		case "":
		default:
			continue
		}
		if at, ok := offset(m.Type, rest); ok {
			return int(m.Offset.Bytes()) + at, true
		}
	}
	return 0, false
}
