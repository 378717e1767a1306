package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
)

// collection is what everything that collects hits has: its probes, and the maps that their
// programs write.
type collection struct {
	options Options

	mu       sync.Mutex // guards what follows
	held     *attachment
	maps     []*ebpf.Map
	patterns *ebpf.Map // of the sites' condition, nil without texts in it
	indices  int       // how many there are
}

// open makes a collection without a site.
func (c *collection) open(o Options) (err error) {
	c.options = o
	c.held, err = attach(o)
	return err
}

// newMap makes a map that lasts as long as the collection.
func (c *collection) newMap(what string, spec *ebpf.MapSpec) (*ebpf.Map, error) {
	m, err := newMap(spec)
	if err != nil {
		return nil, fmt.Errorf("creating %s: %w", what, err)
	}
	c.maps = append(c.maps, m)
	return m, nil
}

// add attaches to the sites of files, in some processes or, with none, in all; they have n indices, 0 without
// a site. plan returns the programs for them, and what to do once they are attached. With an error nothing has
// changed; otherwise all are attached but those that are skipped. The caller has locked mu.
func (c *collection) add(files []File, n int, pids []int, plan func(base traceProgram) (units []unit, done func(), err error)) (skipped []*AttachError, err error) {
	if c.held == nil {
		return nil, os.ErrClosed
	}
	maps, patterns := len(c.maps), c.patterns
	units, done, err := c.plan(files, plan)
	if err == nil {
		skipped, err = c.held.add(files, units, pids, c.options)
	}
	if err != nil {
		err = errors.Join(err, closeMaps(c.maps[maps:]))
		c.maps, c.patterns = c.maps[:maps], patterns
		return nil, err
	}
	c.indices += n
	if done != nil {
		done()
	}
	return skipped, nil
}

func (c *collection) plan(files []File, plan func(traceProgram) ([]unit, func(), error)) ([]unit, func(), error) {
	if !hasSites(files) {
		return nil, nil, nil // linkers at most
	}
	if c.patterns == nil {
		var err error
		if c.patterns, err = c.newPatterns(files); err != nil {
			return nil, nil, err
		}
	}
	base, err := newProgram(c.patterns, c.options)
	if err != nil {
		return nil, nil, err
	}
	return plan(base)
}

// live is nil as long as there are probes, which is until Close or the end of a guard. The caller has locked mu.
func (c *collection) live() error {
	if c.held == nil {
		return os.ErrClosed
	}
	return c.held.Err()
}

// detach takes the probes away. The caller has locked mu.
func (c *collection) detach() error {
	if c.held == nil {
		return nil
	}
	err := c.held.Close()
	c.held = nil
	return err
}

// Close detaches and frees everything. Further calls do nothing.
func (c *collection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := errors.Join(c.detach(), closeMaps(c.maps))
	c.maps = nil
	return err
}

func closeMaps(maps []*ebpf.Map) (err error) {
	for _, m := range maps {
		err = errors.Join(err, m.Close())
	}
	return err
}
