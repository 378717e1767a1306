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
	maxOpen, maxGroups int
	pairs              []*pairMaps
	state, zero        *ebpf.Map // zero is nil without groups
}

// pairMaps are the maps of pairs whose keys have one layout.
type pairMaps struct {
	kept   *keyMap // by key: when it began, 0 while it is not open; nil with groups
	begun  *keyMap // the same of keys that found no room there, without those that are not open
	groups *keyMap // the states of groups, nil without them
}

// NewLatency returns one without a site. It keeps at most maxOpen keys open, as NewKeyCounter does, and
// counts pairs in at most maxGroups groups, 0 for none.
func NewLatency(maxOpen, maxGroups int, o Options) (*Latency, error) {
	l := &Latency{maxOpen: maxOpen, maxGroups: maxGroups}
	if err := l.open(o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

func (l *Latency) open(o Options) (err error) {
	if err := l.collection.open(o); err != nil {
		return err
	}
	if l.state, err = l.newMap("a histogram", prog.PairState()); err != nil {
		return err
	}
	if l.maxGroups > 0 {
		l.zero, err = l.newMap("an empty histogram", prog.ZeroState())
	}
	return err
}

// Add attaches to the sites of files, each of which has a key of one part, in some processes or,
// with no pids, in all.
func (l *Latency) Add(files []File, pids []int) (skipped []*AttachError, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(files, 0, pids, func(base prog.Base) ([]unit, func(), error) {
		p, err := l.mapsFor(files)
		if err != nil {
			return nil, nil, err
		}
		maps := prog.PairMaps{Layout: p.begun.layout, Open: p.begun.FD(), State: l.state.FD()}
		if p.groups != nil {
			maps.Groups = &prog.GroupMaps{Layout: p.groups.layout, States: p.groups.FD(), Zero: l.zero.FD()}
		} else {
			maps.Kept = p.kept.FD()
		}
		units := unitsOf(files, "waymark_latency", func(s *prog.Site, m prog.Means) asm.Instructions { return base.Latency(s, m, maps) })
		return units, func() { l.pairs = keep(l.pairs, p) }, nil
	})
}

// mapsFor returns maps that the keys of all sites fit into, those that there are if they do.
func (l *Latency) mapsFor(files []File) (*pairMaps, error) {
	key, err := layoutOf(files, func(s *prog.Site) prog.Key { return s.Key })
	if err != nil {
		return nil, err
	}
	var by prog.KeyLayout
	if l.maxGroups > 0 {
		if by, err = layoutOf(files, func(s *prog.Site) prog.Key { return s.By }); err != nil {
			return nil, err
		}
	}
	for _, p := range l.pairs {
		if p.begun.layout.Holds(key) && (p.groups == nil || p.groups.layout.Holds(by)) {
			return p, nil
		}
	}
	p := &pairMaps{}
	open := prog.OpenKeys(l.maxOpen)
	if l.maxGroups > 0 {
		open.ValueSize = prog.OpenValue(by)
		p.groups, err = l.newKeyMap(by, prog.GroupStates(l.maxGroups))
	} else {
		p.kept, err = l.newKeyMap(key, prog.KeptKeys(l.maxOpen))
	}
	if err != nil {
		return nil, err
	}
	p.begun, err = l.newKeyMap(key, open)
	return p, err
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

// Groups calls each for every group that has pairs, with what was counted of these since attaching. A RawKey is
// valid until each returns.
func (l *Latency) Groups(each func(prog.RawKey, *prog.Latencies)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.live(); err != nil {
		return err
	}
	for _, p := range l.pairs {
		if p.groups == nil {
			continue
		}
		key, state := make([]byte, p.groups.KeySize()), make([]prog.CPUState, 1)
		all := p.groups.Iterate()
		for all.Next(&key, &state[0]) {
			each(p.groups.layout.Raw(key), prog.SumPairs(state))
		}
		if err := all.Err(); err != nil {
			return fmt.Errorf("reading latencies by group: %w", err)
		}
	}
	return nil
}
