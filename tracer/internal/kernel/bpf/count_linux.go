package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// Counter counts hits by index.
type Counter struct {
	collection
	arrays []countArray // one for each time that something was added
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
// below n, and come back after those that there are. Sites that the kernel refuses are skipped,
// as long as it takes others.
func (c *Counter) Add(files []File, n int, pids []int) (skipped []*AttachError, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(files, n, pids, func(base prog.Base) ([]unit, func(), error) {
		m, err := c.newMap(fmt.Sprintf("%d counters", n), prog.Counters("waymark_count", n))
		if err != nil {
			return nil, nil, err
		}
		units := unitsOf(files, "waymark_count", func(s *prog.Site, means prog.Means) asm.Instructions { return base.Count(s, means, m.FD()) })
		return units, func() { c.arrays = append(c.arrays, countArray{m, n}) }, nil
	})
}

// Read returns the hits since attaching, one system call for each index.
func (c *Counter) Read() ([]uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(); err != nil {
		return nil, err
	}
	return readAll(c.arrays, c.indices)
}

// readAll returns n counters in all.
func readAll(arrays []countArray, n int) ([]uint64, error) {
	counts := make([]uint64, 0, n)
	var perCPU []uint64
	for _, a := range arrays {
		for i := range a.n {
			n, err := sum(a.Map, uint32(i), &perCPU)
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

func total(perCPU []uint64) (n uint64) {
	for _, v := range perCPU {
		n += v
	}
	return n
}

// KeyCounter counts hits by index and key.
type KeyCounter struct {
	collection
	maxKeys int
	keys    []*keyMap    // of counters
	others  []countArray // by index: hits whose key found no room
}

// NewKeyCounter returns one without a site. It counts at most maxKeys keys; where later sites have
// longer ones than the first, as many of these in addition.
func NewKeyCounter(maxKeys int, o Options) (*KeyCounter, error) {
	c := &KeyCounter{maxKeys: maxKeys}
	return c, c.open(o)
}

// Add attaches to the sites of files, each of which has a key, as Counter's does.
func (c *KeyCounter) Add(files []File, n int, pids []int) (skipped []*AttachError, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(files, n, pids, func(base prog.Base) ([]unit, func(), error) {
		keys, err := c.keyMap(c.keys, files, prog.KeyCounters(c.maxKeys))
		if err != nil {
			return nil, nil, err
		}
		others, err := c.newMap(fmt.Sprintf("%d counters", n), prog.Counters("waymark_others", n))
		if err != nil {
			return nil, nil, err
		}
		maps := prog.KeyMaps{Layout: keys.layout, Keys: keys.FD(), Others: others.FD(), First: c.indices}
		units := unitsOf(files, "waymark_countby", func(s *prog.Site, m prog.Means) asm.Instructions { return base.CountBy(s, m, maps) })
		return units, func() {
			c.keys = keep(c.keys, keys)
			c.others = append(c.others, countArray{others, n})
		}, nil
	})
}

// Read calls each for every key that was hit, with its hits since attaching, and returns by
// index the hits whose keys found no room. A RawKey is valid until each returns.
func (c *KeyCounter) Read(each func(prog.RawKey, uint64)) (others []uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(); err != nil {
		return nil, err
	}
	for _, m := range c.keys {
		if err := m.read(each); err != nil {
			return nil, fmt.Errorf("reading counters by key: %w", err)
		}
	}
	return readAll(c.others, c.indices)
}
