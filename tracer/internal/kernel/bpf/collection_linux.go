package bpf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"

	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
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
	onOff    *ebpf.Map // see prog.Switch
	added    uint32    // how often sites were added
}

// open makes a collection without a site.
func (c *collection) open(o Options) (err error) {
	c.options = o
	if c.onOff, err = c.newMap("a switch", prog.SwitchMap()); err != nil {
		return err
	}
	if c.held, err = attach(o); err != nil {
		err = errors.Join(err, closeAll(c.maps))
		c.maps = nil
	}
	return err
}

// turn sets the switch: all programs of the first n additions count from now on, and no others.
func (c *collection) turn(n uint32) error {
	if err := c.onOff.Put(uint32(0), n); err != nil {
		return fmt.Errorf("switching the probes: %w", err)
	}
	return nil
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
func (c *collection) add(files []File, n int, pids []int, plan func(base prog.Base) (units []unit, done func(), err error)) (skipped []*AttachError, err error) {
	if c.held == nil {
		return nil, os.ErrClosed
	}
	maps, patterns := len(c.maps), c.patterns
	units, done, err := c.plan(files, plan)
	if err == nil {
		skipped, err = c.held.add(files, units, pids, c.options)
	}
	if err != nil {
		err = errors.Join(err, closeAll(c.maps[maps:]))
		c.maps, c.patterns = c.maps[:maps], patterns
		return nil, err
	}
	c.indices += n
	if done != nil {
		done()
	}
	c.added++
	return skipped, c.turn(c.added) // before, none of them counts
}

// Detach takes the probes out of one process that was given to Add. Those for every process stay.
func (c *collection) Detach(pid int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		return os.ErrClosed
	}
	if err := c.held.detachProcess(pid); err != nil {
		return fmt.Errorf("detaching from process %d: %w", pid, err)
	}
	return nil
}

func (c *collection) plan(files []File, plan func(prog.Base) ([]unit, func(), error)) ([]unit, func(), error) {
	if !slices.ContainsFunc(files, func(f File) bool { return len(f.Sites) > 0 }) {
		return nil, nil, nil // linkers at most
	}
	if c.patterns == nil {
		var err error
		if c.patterns, err = c.newPatterns(files); err != nil {
			return nil, nil, err
		}
	}
	base, err := prog.NewBase(prog.Machine(runtime.GOARCH))
	if err != nil {
		return nil, nil, err
	}
	if c.patterns != nil {
		base.Patterns = c.patterns.FD()
	}
	base.Switch = &prog.Switch{Map: c.onOff.FD(), Number: int32(c.added)}
	if w := c.options.Watch; w != nil {
		base.Admit = w.programs.Admit()
	}
	if base.PIDs, err = ownPIDNamespace(); err != nil {
		return nil, nil, err
	}
	return plan(base)
}

// newPatterns makes the map with the tables of the sites' condition, nil when it compares no text.
func (c *collection) newPatterns(files []File) (*ebpf.Map, error) {
	var patterns []*filter.Pattern
	for i := range files {
		for j := range files[i].Sites {
			if w := files[i].Sites[j].Where; w != nil {
				patterns = w.Filter.Patterns // all are of one expression
			}
		}
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	m, err := c.newMap(fmt.Sprintf("the tables of %d texts", len(patterns)), prog.PatternTables(patterns))
	if err != nil {
		return nil, err
	}
	if err := m.Freeze(); err != nil {
		return nil, fmt.Errorf("freezing the tables of texts: %w", err)
	}
	return m, nil
}

// live is nil as long as there are probes, which is until Close or the end of a guard. The caller has locked mu.
func (c *collection) live() error {
	switch {
	case c.maps == nil:
		return os.ErrClosed
	case c.held == nil:
		return nil // stopped: what was counted stays
	}
	return c.held.Err()
}

// detach takes the probes away, all at one moment as far as hits go. The caller has locked mu.
func (c *collection) detach() error {
	if c.held == nil {
		return nil
	}
	err := errors.Join(c.turn(0), c.held.Close())
	c.held = nil
	return err
}

// Stop detaches; what was counted until then can still be read. Further calls do nothing.
func (c *collection) Stop() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.detach()
}

// Close detaches and frees everything. Further calls do nothing.
func (c *collection) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := errors.Join(c.detach(), closeAll(c.maps))
	c.maps = nil
	return err
}

func closeAll[C io.Closer](all []C) (err error) {
	for _, c := range all {
		err = errors.Join(err, c.Close())
	}
	return err
}

// newMap makes a map. Before Linux 5.11 maps and programs count against RLIMIT_MEMLOCK, and
// raising it needs CAP_SYS_RESOURCE. Where that fails making the map says so.
func newMap(spec *ebpf.MapSpec) (*ebpf.Map, error) {
	_ = rlimit.RemoveMemlock()
	return ebpf.NewMap(spec)
}

// keyMap is a map whose keys have a layout. A per-CPU map of counters can be read; it keeps the buffers.
type keyMap struct {
	*ebpf.Map
	layout prog.KeyLayout
	keys   reflect.Value // [readBatch][size]byte
	values []uint64
	single bool // the kernel has no batches: before Linux 5.6
}

// keyMap returns the first known map that the keys of all sites fit into, or else a new one.
func (c *collection) keyMap(known []*keyMap, files []File, spec *ebpf.MapSpec) (*keyMap, error) {
	layout, err := layoutOf(files, func(s *prog.Site) prog.Key { return s.Key })
	if err != nil {
		return nil, err
	}
	for _, m := range known {
		if m.layout.Holds(layout) {
			return m, nil
		}
	}
	return c.newKeyMap(layout, spec)
}

// layoutOf returns the layout that holds a key of every site.
func layoutOf(files []File, key func(*prog.Site) prog.Key) (prog.KeyLayout, error) {
	var keys []prog.Key
	for i := range files {
		for j := range files[i].Sites {
			keys = append(keys, key(&files[i].Sites[j]))
		}
	}
	return prog.LayoutOf(keys)
}

// newKeyMap makes a map whose keys have a layout.
func (c *collection) newKeyMap(layout prog.KeyLayout, spec *ebpf.MapSpec) (*keyMap, error) {
	spec.KeySize = uint32(layout.Size)
	m, err := c.newMap(fmt.Sprintf("a table of %d keys of %d bytes", spec.MaxEntries, layout.Size), spec)
	return &keyMap{Map: m, layout: layout}, err
}

// keep adds something unless it is known.
func keep[T comparable](known []T, one T) []T {
	if slices.Contains(known, one) {
		return known
	}
	return append(known, one)
}

// readBatch is how many elements a system call returns: more than share a bucket of the
// kernel's hash table, which comes whole or not at all.
const readBatch = 4096

// read calls each for every element, with the sum of its numbers.
func (m *keyMap) read(each func(prog.RawKey, uint64)) error {
	if !m.single {
		err := m.batches(each)
		if !errors.Is(err, ebpf.ErrNotSupported) {
			return err
		}
		m.single = true
	}
	key := make([]byte, m.KeySize())
	all := m.Iterate()
	for all.Next(&key, &m.values) {
		each(m.layout.Raw(key), total(m.values))
	}
	return all.Err()
}

func (m *keyMap) batches(each func(prog.RawKey, uint64)) error {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return err
	}
	if !m.keys.IsValid() {
		// The library wants to know the size of a key from its type.
		key := reflect.ArrayOf(int(m.KeySize()), reflect.TypeFor[byte]())
		n := min(readBatch, int(m.MaxEntries()))
		m.keys = reflect.MakeSlice(reflect.SliceOf(key), n, n)
		m.values = make([]uint64, n*cpus)
	}
	var cursor ebpf.MapBatchCursor
	for {
		n, err := m.BatchLookup(&cursor, m.keys.Interface(), m.values, nil)
		last := errors.Is(err, ebpf.ErrKeyNotExist)
		if err != nil && !last {
			return err
		}
		for i := range n {
			each(m.layout.Raw(m.keys.Index(i).Bytes()), total(m.values[i*cpus:(i+1)*cpus]))
		}
		if last {
			return nil
		}
	}
}
