package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// KeyCounter counts hits by index and key.
type KeyCounter struct {
	collection
	maxKeys int
	keys    []*keyMap    // of counters
	others  []countArray // by index: hits whose key found no room
}

// NewKeyCounter returns one without a site. It counts at most maxKeys keys; where later sites have
// longer ones than the first, as many of these besides.
func NewKeyCounter(maxKeys int, o Options) (*KeyCounter, error) {
	c := &KeyCounter{maxKeys: maxKeys}
	return c, c.open(o)
}

// Add attaches to the sites of files, each of which has a key, as Counter's does.
func (c *KeyCounter) Add(files []File, n int, pids []int) (skipped []*AttachError, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.add(files, n, pids, func(base traceProgram) ([]unit, func(), error) {
		// All elements are made beforehand: sleepable programs may not allocate on older kernels,
		// and "no room" then means just that.
		keys, err := c.keyMap(c.keys, files, &ebpf.MapSpec{
			Name: "waymark_keys", Type: ebpf.PerCPUHash, ValueSize: 8, MaxEntries: uint32(c.maxKeys),
		})
		if err != nil {
			return nil, nil, err
		}
		others, err := c.newMap(fmt.Sprintf("%d counters", n), &ebpf.MapSpec{
			Name: "waymark_others", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: uint32(n),
		})
		if err != nil {
			return nil, nil, err
		}
		first := c.indices
		units := keyUnits(files, "waymark_countby", func(s *Site, m Mode, cookie *uint64) asm.Instructions {
			return base.withKey(keys, s, m, "out").countBy(s.Key, cookie, keys.FD(), others.FD(), first)
		})
		return units, func() {
			c.keys = keep(c.keys, keys)
			c.others = append(c.others, countArray{others, n})
		}, nil
	})
}

// countBy adds one to the counter of the hit's key, or to that of the others. Each way through
// it adds exactly once. The key's index is the site's behind the first.
func (a *keyProgram) countBy(k Key, cookie *uint64, keys, others, first int) asm.Instructions {
	head := a.key()
	a.emit(loadCookie(asm.R6, cookie)...)
	a.emit(asm.Add.Imm(asm.R0, int32(first)), asm.StoreMem(asm.RFP, head, asm.R0, asm.Word))
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

	a.label("other")
	a.emit(asm.LoadMem(asm.R1, asm.RFP, head, asm.Word), asm.Sub.Imm(asm.R1, int32(first)), asm.StoreMem(asm.RFP, stackScratch, asm.R1, asm.Word))
	add(others, stackScratch, "out")

	a.label("out")
	a.emit(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return a.ins
}

// Read calls each for every key that was hit, with its hits since attaching, and returns by
// index the hits whose keys found no room. A RawKey is valid until each returns.
func (c *KeyCounter) Read(each func(RawKey, uint64)) (others []uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.live(); err != nil {
		return nil, err
	}
	for _, m := range c.keys {
		if err := m.reader.read(m.Map, func(key []byte, n uint64) { each(RawKey{key, m.layout}, n) }); err != nil {
			return nil, fmt.Errorf("reading counters by key: %w", err)
		}
	}
	for _, a := range c.others {
		for i := range a.n {
			n, err := sum(a.Map, uint32(i), new([]uint64))
			if err != nil {
				return nil, fmt.Errorf("reading counter %d: %w", i, err)
			}
			others = append(others, n)
		}
	}
	return others, nil
}
