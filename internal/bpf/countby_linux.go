package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// KeyCounter counts hits by index and key.
type KeyCounter struct {
	mu     sync.Mutex
	keys   *ebpf.Map // by key; nil when closed
	others *ebpf.Map // by index: hits whose key found no room
	n      int
	layout keyLayout
	held   *attachment
	reader mapReader
}

// NewKeyCounter attaches to the sites, each of which has a key, and counts for indices below
// n and at most maxKeys keys.
func NewKeyCounter(files []File, n, maxKeys int, o Options) (*KeyCounter, error) {
	patterns, err := newPatterns(files)
	if err != nil {
		return nil, err
	}
	defer patterns.Close() // programs hold it
	base, err := newKeyProgram(files, patterns, o)
	if err != nil {
		return nil, err
	}
	c := &KeyCounter{n: n, layout: base.layout}
	// All elements are made beforehand: sleepable programs may not allocate on older kernels,
	// and "no room" then means just that.
	if c.keys, err = newMap(&ebpf.MapSpec{
		Name: "waymark_keys", Type: ebpf.PerCPUHash, KeySize: uint32(base.layout.size), ValueSize: 8, MaxEntries: uint32(maxKeys),
	}); err != nil {
		return nil, fmt.Errorf("creating counters for %d keys of %d bytes: %w", maxKeys, base.layout.size, err)
	}
	if c.others, err = newMap(&ebpf.MapSpec{
		Name: "waymark_others", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n),
	}); err != nil {
		return nil, errors.Join(fmt.Errorf("creating %d counters: %w", n, err), c.keys.Close())
	}
	units := keyUnits(files, "waymark_countby", func(s *Site, m Mode, cookie *uint64) asm.Instructions {
		return base.begin(s, m, "out").countBy(s.Key, cookie, c.keys.FD(), c.others.FD())
	})
	if c.held, err = attach(files, units, o); err != nil {
		return nil, errors.Join(err, c.closeMaps())
	}
	return c, nil
}

// countBy adds one to the counter of the hit's key, or to that of the others. Each way through
// it adds exactly once.
func (a *keyProgram) countBy(k Key, cookie *uint64, keys, others int) asm.Instructions {
	head := a.key()
	a.emit(loadCookie(asm.R6, cookie)...)
	a.emit(asm.StoreMem(asm.RFP, head, asm.R0, asm.Word))
	a.makeKey(k)
	a.emit(asm.StoreMem(asm.RFP, head+offKeyFailed, asm.R8, asm.Half),
		asm.StoreImm(asm.RFP, head+offKeyAbsent, k.absent(), asm.Half))
	add := func(m int, at int16, none string) {
		a.emit(asm.LoadMapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, int32(at)),
			asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, none),
			// Atomic, because another thread's program may run on this CPU in between.
			asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
			asm.Ja.Label("out"))
	}
	add(keys, head, "new")

	a.label("new")
	a.emit(asm.Mov.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, stackScratch, asm.R1, asm.DWord), asm.LoadMapPtr(asm.R1, keys))
	a.keyArg(asm.R2)
	a.emit(asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackScratch), asm.Mov.Imm(asm.R4, int32(ebpf.UpdateNoExist)),
		asm.FnMapUpdateElem.Call(), asm.JEq.Imm(asm.R0, 0, "out"))
	add(keys, head, "other") // another thread may have been first

	a.label("other") // the index is the key's first word
	add(others, head, "out")

	a.label("out")
	a.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return a.ins
}

// Read calls each for every key that was hit, with its hits since attaching, and returns by
// index the hits whose keys found no room. A RawKey is valid until each returns.
func (c *KeyCounter) Read(each func(RawKey, uint64)) (others []uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		return nil, os.ErrClosed
	}
	if err := c.held.Err(); err != nil {
		return nil, err
	}
	if err := c.reader.read(c.keys, func(key []byte, n uint64) { each(RawKey{key, c.layout}, n) }); err != nil {
		return nil, fmt.Errorf("reading counters by key: %w", err)
	}
	others = make([]uint64, c.n)
	for i := range others {
		if others[i], err = sum(c.others, uint32(i), new([]uint64)); err != nil {
			return nil, fmt.Errorf("reading counter %d: %w", i, err)
		}
	}
	return others, nil
}

// Close detaches. Further calls do nothing.
func (c *KeyCounter) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keys == nil {
		return nil
	}
	err := errors.Join(c.held.Close(), c.closeMaps())
	c.keys = nil
	return err
}

func (c *KeyCounter) closeMaps() error { return errors.Join(c.keys.Close(), c.others.Close()) }
