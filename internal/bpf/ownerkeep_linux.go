package bpf

import (
	"fmt"

	"github.com/waymark-trace/waymark/internal/refcount"
)

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
