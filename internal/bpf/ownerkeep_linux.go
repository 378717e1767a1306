package bpf

import (
	"fmt"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/refcount"
)

// raise raises what is kept in a process. That the process has ended is no refusal.
func (o *owner) raise(pid int) *refusal {
	for _, k := range o.keepers {
		if err := k.Look(pid); err != nil && !procfs.Gone(err) {
			return &refusal{-1, -1, pid, fmt.Errorf("raising reference counters: %w", err)}
		}
	}
	return nil
}

// keep raises the counters that the kernel is not to raise.
func (o *owner) keep(counters [][]uint64, files, pids []int) error {
	var counted []*refcount.File
	for i, offsets := range counters {
		if len(offsets) == 0 {
			continue
		}
		f, err := refcount.NewFile(files[i], offsets)
		if err != nil {
			return fmt.Errorf("raising reference counters: %w", err)
		}
		counted = append(counted, f)
	}
	if len(counted) == 0 {
		return nil
	}
	k, err := refcount.Keep(counted, pids)
	if err != nil {
		return fmt.Errorf("raising reference counters: %w", err)
	}
	o.keepers = append(o.keepers, k)
	return nil
}
