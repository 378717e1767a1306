package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Counter counts hits by index.
type Counter struct {
	mu     sync.Mutex
	arrays []countArray // one for each time that something was added
	held   *attachment  // nil after Close
	perCPU []uint64
}

// countArray holds the counters of n indices.
type countArray struct {
	*ebpf.Map
	n        int
	patterns *ebpf.Map // of conditions, nil for none
}

// NewCounter attaches to the sites and counts for indices below n.
func NewCounter(files []File, n int, o Options) (*Counter, error) {
	c := &Counter{}
	array, units, err := countUnits(files, n, o)
	if err != nil {
		return nil, err
	}
	if c.held, err = attach(files, units, o); err != nil {
		return nil, errors.Join(err, array.close())
	}
	c.arrays = append(c.arrays, array)
	return c, nil
}

// Add attaches to more sites, as NewCounter does. Their indices, below n again, come back
// behind those that there are.
func (c *Counter) Add(files []File, n int, o Options) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return os.ErrClosed
	}
	array, units, err := countUnits(files, n, o)
	if err != nil {
		return err
	}
	if err := c.held.add(files, units, o); err != nil {
		return errors.Join(err, array.close())
	}
	c.arrays = append(c.arrays, array)
	return nil
}

func countUnits(files []File, n int, o Options) (countArray, []unit, error) {
	if n == 0 {
		return countArray{}, nil, nil
	}
	m, err := newMap(&ebpf.MapSpec{
		Name: "waymark_count", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n),
	})
	if err != nil {
		return countArray{}, nil, fmt.Errorf("creating %d counters: %w", n, err)
	}
	a := countArray{Map: m, n: n}
	if a.patterns, err = newPatterns(files); err != nil {
		return countArray{}, nil, errors.Join(err, a.close())
	}
	base, err := newProgram(a.patterns, o)
	if err != nil {
		return countArray{}, nil, errors.Join(err, a.close())
	}
	return a, base.countUnits(files, m.FD()), nil
}

func (a countArray) close() error {
	if a.Map == nil {
		return nil
	}
	return errors.Join(a.Close(), a.patterns.Close())
}

// countUnits returns a program for each condition.
func (base traceProgram) countUnits(files []File, array int) []unit {
	var units []unit
	known := map[string]int{}
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			u, ok := known[s.Where.key()]
			if !ok {
				u = len(units)
				known[s.Where.key()] = u
				units = append(units, unit{name: "waymark_count", sleepable: s.Where != nil,
					assemble: func(m Mode, cookie *uint64) asm.Instructions {
						a := base
						a.sleepable, a.cookie = m == Multi, cookie
						return a.countProgram(s.Where, array)
					}})
			}
			units[u].sites = append(units[u].sites, place(files, i, j, uint64(s.Index)))
		}
	}
	return units
}

// Read returns the hits since attaching, one system call for each index.
func (c *Counter) Read() ([]uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return nil, os.ErrClosed
	}
	if err := c.held.Err(); err != nil {
		return nil, err
	}
	var counts []uint64
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
	var n uint64
	for _, v := range *perCPU {
		n += v
	}
	return n, nil
}

// Close detaches. Further calls do nothing.
func (c *Counter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return nil
	}
	err := c.held.Close()
	c.held = nil
	for _, a := range c.arrays {
		err = errors.Join(err, a.close())
	}
	return err
}
