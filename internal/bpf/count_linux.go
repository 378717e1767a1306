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
	array  *ebpf.Map
	n      int
	held   *attachment
	perCPU []uint64
}

// NewCounter attaches to the sites and counts for indices below n.
func NewCounter(files []File, n int, o Options) (*Counter, error) {
	array, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "waymark_count", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n),
	})
	if err != nil {
		return nil, fmt.Errorf("creating %d counters: %w", n, err)
	}
	u := unit{name: "waymark_count", assemble: func(_ Mode, cookie *uint64) asm.Instructions {
		return countProgram(array.FD(), cookie)
	}}
	for i := range files {
		for j := range files[i].Sites {
			u.sites = append(u.sites, placed{i, j, uint64(files[i].Sites[j].Index)})
		}
	}
	held, err := attach(files, []unit{u}, o)
	if err != nil {
		return nil, errors.Join(err, array.Close())
	}
	return &Counter{array: array, n: n, held: held}, nil
}

// Read returns the hits since attaching, one system call for each index.
func (c *Counter) Read() ([]uint64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.array == nil {
		return nil, os.ErrClosed
	}
	if err := c.held.Err(); err != nil {
		return nil, err
	}
	counts := make([]uint64, c.n)
	for i := range counts {
		n, err := sum(c.array, uint32(i), &c.perCPU)
		if err != nil {
			return nil, fmt.Errorf("reading counter %d: %w", i, err)
		}
		counts[i] = n
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
	if c.array == nil {
		return nil
	}
	err := errors.Join(c.held.Close(), c.array.Close())
	c.array = nil
	return err
}
