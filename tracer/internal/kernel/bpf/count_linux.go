package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Counter counts hits by index.
type Counter struct {
	collection
	arrays []countArray // one for each time that something was added
	perCPU []uint64
}

// countArray holds the counters of n indices.
type countArray struct {
	*ebpf.Map
	n int
}

// NewCounter returns one without a site.
func NewCounter(o Options) (*Counter, error) {
	c := &Counter{}
	return c, c.open(o)
}

// Add attaches to the sites of files in some processes or, with no pids, in all. Their indices are
// below n, and come back behind those that there are. Sites that the kernel refuses for what they are
// are skipped, as long as there are others.
func (c *Counter) Add(files []File, n int, pids []int) (skipped []*AttachError, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(files, n, pids, func(base traceProgram) ([]unit, func(), error) {
		m, err := c.newMap(fmt.Sprintf("%d counters", n), &ebpf.MapSpec{
			Name: "waymark_count", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n),
		})
		if err != nil {
			return nil, nil, err
		}
		return base.countUnits(files, m.FD()), func() { c.arrays = append(c.arrays, countArray{m, n}) }, nil
	})
}

// countUnits returns a program for each condition.
func (base traceProgram) countUnits(files []File, array int) []unit {
	g := unitsBy{name: "waymark_count"}
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			g.add(place(files, i, j, uint64(s.Index)), s.Where.key(), s.Where != nil, func(m Mode, cookie *uint64) asm.Instructions {
				a := base
				a.sleepable, a.cookie = m == Multi, cookie
				return a.countProgram(s.Where, array)
			})
		}
	}
	return g.units
}

// Read returns the hits since attaching, one system call for each index.
func (c *Counter) Read() ([]uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(); err != nil {
		return nil, err
	}
	counts := make([]uint64, 0, c.indices)
	for _, a := range c.arrays {
		for i := range a.n {
			n, err := sum(a.Map, uint32(i), &c.perCPU)
			if err != nil {
				return nil, fmt.Errorf("reading counter %d: %w", i, err)
			}
			counts = append(counts, n)
		}
	}
	return counts, nil
}

// sum adds up one element of a per-CPU array.
func sum(array *ebpf.Map, index uint32, perCPU *[]uint64) (uint64, error) {
	if err := array.Lookup(index, perCPU); err != nil {
		return 0, err
	}
	return total(*perCPU), nil
}
