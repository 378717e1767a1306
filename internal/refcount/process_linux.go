package refcount

import (
	"fmt"
	"math"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// process is an address space in which counters are raised.
type process struct {
	identity
	memory *procfs.Memory
	image  procfs.Image // zero when it is not known
	raised map[place]raise
}

func open(id identity) (*process, error) {
	m, err := procfs.OpenMemory(id.pid, true)
	if err != nil {
		return nil, err
	}
	p := &process{identity: id, memory: m, raised: map[place]raise{}}
	p.image, _ = procfs.ReadImage(id.pid, m)
	return p, nil
}

// alive reports whether the address space is still somebody's: not after the process ended or
// executed another program.
func (p *process) alive() bool {
	for at := range p.raised {
		_, err := p.memory.Counter(at.address)
		return !procfs.Gone(err)
	}
	return true
}

// raise raises a counter. The caller has the file's lock.
func (p *process) raise(at place) error {
	v, err := p.memory.Counter(at.address)
	if err != nil {
		return err
	}
	if v == math.MaxUint16 {
		return fmt.Errorf("the counter at %#x is %d and cannot be raised", at.address, v)
	}
	if err := p.memory.SetCounter(at.address, v+1); err != nil {
		return err
	}
	p.raised[at] = raise{v, now()}
	return nil
}

// lower takes a raise back. The caller has the file's lock.
func (p *process) lower(at place) error {
	delete(p.raised, at)
	v, err := p.memory.Counter(at.address)
	if err != nil {
		return err
	}
	if v == 0 {
		return fmt.Errorf("the counter at %#x was lowered by somebody else", at.address)
	}
	return p.memory.SetCounter(at.address, v-1)
}

// mapped returns where the process has counters now.
func (p *process) mapped(files []*File) (map[place]bool, error) {
	maps, err := procfs.Maps(p.pid)
	if err != nil {
		return nil, err
	}
	all := map[place]bool{}
	for _, f := range files {
		for _, at := range f.places(p.pid, maps) {
			all[at] = true
		}
	}
	return all, nil
}

// forget drops raises whose mapping is gone, and those that are zero: the mapping is a new
// one at the same address.
func (p *process) forget(mapped map[place]bool) {
	for at := range p.raised {
		v, err := p.memory.Counter(at.address)
		if !mapped[at] || err == nil && v == 0 {
			delete(p.raised, at)
		}
	}
}
