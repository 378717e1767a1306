package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// Latency measures the time from hits of some sites to those of others with the same key.
type Latency struct {
	collection
	maxOpen int
	kept    []*keyMap // by key: when it began, 0 while it is not open
	begun   []*keyMap // the same of keys that found no room there, without those that are not open
	state   *ebpf.Map
}

// NewLatency returns one without a site. It keeps at most maxOpen keys open, as NewKeyCounter does.
func NewLatency(maxOpen int, o Options) (*Latency, error) {
	l := &Latency{maxOpen: maxOpen}
	if err := l.collection.open(o); err != nil {
		return nil, err
	}
	var err error
	if l.state, err = l.newMap("a histogram", prog.PairState()); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Add attaches to the sites of files, each of which has a key of one part, in some processes or,
// with no pids, in all.
func (l *Latency) Add(files []File, pids []int) (skipped []*AttachError, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(files, 0, pids, func(base prog.Base) ([]unit, func(), error) {
		kept, err := l.keyMap(l.kept, files, prog.KeptKeys(l.maxOpen))
		if err != nil {
			return nil, nil, err
		}
		begun, err := l.keyMap(l.begun, files, prog.OpenKeys(l.maxOpen))
		if err != nil {
			return nil, nil, err
		}
		maps := prog.PairMaps{Layout: begun.layout, Kept: kept.FD(), Open: begun.FD(), State: l.state.FD()}
		units := unitsOf(files, "waymark_latency", func(s *prog.Site, m prog.Means) asm.Instructions { return base.Latency(s, m, maps) })
		return units, func() { l.kept, l.begun = keep(l.kept, kept), keep(l.begun, begun) }, nil
	})
}

// Read returns what was counted since attaching, by one system call.
func (l *Latency) Read() (*prog.Latencies, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.live(); err != nil {
		return nil, err
	}
	var perCPU []prog.CPUState
	if err := l.state.Lookup(uint32(0), &perCPU); err != nil {
		return nil, fmt.Errorf("reading latencies: %w", err)
	}
	return prog.SumPairs(perCPU), nil
}
