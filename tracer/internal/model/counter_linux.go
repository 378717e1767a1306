package model

import (
	"fmt"

	"github.com/waymark-trace/waymark/internal/procfs"
)

func (m *Marker) counters(pid int) ([]uint16, error) {
	seen, ok := m.File.seen[pid]
	if !ok {
		return nil, fmt.Errorf("%s was not found in process %d", m.FullName(), pid)
	}
	if err := CheckProcess(pid, []*Marker{m}); err != nil {
		return nil, err
	}
	maps, err := procfs.Maps(pid)
	if err != nil {
		return nil, ProcessError("reading the mappings of", pid, procfs.SysPtrace, err)
	}
	values := make([]uint16, len(m.Sites))
	for i := range m.Sites {
		offset := uint64(m.Sites[i].CounterOffset)
		if offset == 0 {
			continue
		}
		at, ok := counterAddress(maps, seen.mapped, offset)
		if !ok {
			return nil, fmt.Errorf("process %d does not map the counter of %s", pid, m.FullName())
		}
		if values[i], err = procfs.ReadCounter(pid, at); err != nil {
			return nil, ProcessError("reading the memory of", pid, procfs.SysPtrace, err)
		}
	}
	return values, nil
}

// counterAddress returns where a counter is. The kernel raises it where the file is mapped
// writable and private: valid_ref_ctr_vma, kernel/events/uprobes.c.
func counterAddress(maps []procfs.Mapping, file procfs.File, offset uint64) (uint64, bool) {
	for i := range maps {
		if !maps[i].Writable {
			continue
		}
		if at, ok := procfs.Address(maps[i:i+1], file, offset); ok {
			return at, true
		}
	}
	return 0, false
}
