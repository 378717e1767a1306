package bpf

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Latencies is what a Latency has counted, times in nanoseconds.
type Latencies struct {
	Begins, Ends uint64
	Nested       uint64 // begins with a key that was open: it begins anew
	Unread       uint64 // hits whose key could not be read
	Full         uint64 // begins that found no room
	Sum, Max     uint64
	Counts       []uint64 // pairs by Bucket
}

// The state of a CPU, the one element of a per-CPU array: Latencies in 64-bit words. One
// element, so that all of it is read by one system call.
const (
	stateBegins = 8 * iota
	stateEnds
	stateNested
	stateUnread
	stateFull
	stateSum
	stateMax
	stateCounts
	stateSize = stateCounts + 8*Buckets
)

// Latency measures the time from hits of some sites to those of others with the same key.
type Latency struct {
	mu    sync.Mutex
	open  *ebpf.Map // by key: when it began
	state *ebpf.Map // nil when closed
	held  *attachment
}

// NewLatency attaches to the sites, each of which has a key of one part, and keeps at most
// maxOpen keys open.
func NewLatency(files []File, maxOpen int, o Options) (*Latency, error) {
	patterns, err := newPatterns(files)
	if err != nil {
		return nil, err
	}
	defer patterns.Close() // programs hold it
	base, err := newKeyProgram(files, patterns, o)
	if err != nil {
		return nil, err
	}
	l := &Latency{}
	// LRU: what begins and never ends, as when a goroutine panics, does not stay for good.
	if l.open, err = newMap(&ebpf.MapSpec{
		Name: "waymark_open", Type: ebpf.LRUHash, KeySize: uint32(base.layout.size), ValueSize: 8, MaxEntries: uint32(maxOpen),
	}); err != nil {
		return nil, fmt.Errorf("creating a table of %d open pairs: %w", maxOpen, err)
	}
	if l.state, err = newMap(&ebpf.MapSpec{
		Name: "waymark_latency", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: stateSize, MaxEntries: 1,
	}); err != nil {
		return nil, errors.Join(fmt.Errorf("creating a histogram: %w", err), l.open.Close())
	}
	units := keyUnits(files, "waymark_latency", func(s *Site, m Mode, _ *uint64) asm.Instructions {
		return base.begin(s, m, "other").latency(s, m, l.open.FD(), l.state.FD())
	})
	if l.held, err = attach(files, units, o); err != nil {
		return nil, errors.Join(err, l.closeMaps())
	}
	return l, nil
}

// Read returns what was counted since attaching, by one system call.
func (l *Latency) Read() (*Latencies, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == nil {
		return nil, os.ErrClosed
	}
	if err := l.held.Err(); err != nil {
		return nil, err
	}
	var perCPU [][stateSize / 8]uint64
	if err := l.state.Lookup(uint32(0), &perCPU); err != nil {
		return nil, fmt.Errorf("reading latencies: %w", err)
	}
	r := &Latencies{Counts: make([]uint64, Buckets)}
	for i := range perCPU {
		s := &perCPU[i]
		r.Begins += s[stateBegins/8]
		r.Ends += s[stateEnds/8]
		r.Nested += s[stateNested/8]
		r.Unread += s[stateUnread/8]
		r.Full += s[stateFull/8]
		r.Sum += s[stateSum/8]
		r.Max = max(r.Max, s[stateMax/8])
		for j := range r.Counts {
			r.Counts[j] += s[stateCounts/8+j]
		}
	}
	return r, nil
}

// Close detaches. Further calls do nothing.
func (l *Latency) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state == nil {
		return nil
	}
	err := errors.Join(l.held.Close(), l.closeMaps())
	l.state = nil
	return err
}

func (l *Latency) closeMaps() error { return errors.Join(l.open.Close(), l.state.Close()) }
