package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/waymark-trace/waymark/internal/histogram"
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
	stateKeptFull // 1 once a CPU has found no room for a key to keep
	stateCounts
	stateSize = stateCounts + 8*histogram.Size
)

// Latency measures the time from hits of some sites to those of others with the same key.
type Latency struct {
	collection
	maxOpen int
	kept    []*keyMap // by key: when it began, 0 while it is not open
	begun   []*keyMap // the same of keys that found no room there, without those that are not open
	state   *ebpf.Map
}

// maxKept is how many keys have a place for good: most programs have fewer threads and goroutines.
const maxKept = 8192

// NewLatency returns one without a site. It keeps at most maxOpen keys open, as NewKeyCounter does.
func NewLatency(maxOpen int, o Options) (*Latency, error) {
	l := &Latency{maxOpen: maxOpen}
	if err := l.collection.open(o); err != nil {
		return nil, err
	}
	var err error
	if l.state, err = l.newMap("a histogram", &ebpf.MapSpec{
		Name: "waymark_latency", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: stateSize, MaxEntries: 1,
	}); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// Add attaches to the sites of files, each of which has a key of one part, in some processes or,
// with no pids, in all.
func (l *Latency) Add(files []File, pids []int) (skipped []*AttachError, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.add(files, 0, pids, func(base traceProgram) ([]unit, func(), error) {
		// Keys that come again and again, as threads and goroutines do, are neither inserted nor deleted then: that
		// is half of what a pair costs.
		kept, err := l.keyMap(l.kept, files, &ebpf.MapSpec{
			Name: "waymark_kept", Type: ebpf.Hash, ValueSize: 8, MaxEntries: uint32(min(l.maxOpen, maxKept)),
		})
		if err != nil {
			return nil, nil, err
		}
		// LRU: what begins and never ends, as when a goroutine panics, does not stay for good.
		begun, err := l.keyMap(l.begun, files, &ebpf.MapSpec{
			Name: "waymark_open", Type: ebpf.LRUHash, ValueSize: 8, MaxEntries: uint32(l.maxOpen),
		})
		if err != nil {
			return nil, nil, err
		}
		maps := pairMaps{kept.FD(), begun.FD(), l.state.FD()}
		units := keyUnits(files, "waymark_latency", func(s *Site, m Mode, _ *uint64) asm.Instructions {
			return base.withKey(begun, s, m, "other").latency(s, m, maps)
		})
		return units, func() { l.kept, l.begun = keep(l.kept, kept), keep(l.begun, begun) }, nil
	})
}

// Read returns what was counted since attaching, by one system call.
func (l *Latency) Read() (*Latencies, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.live(); err != nil {
		return nil, err
	}
	var perCPU [][stateSize / 8]uint64
	if err := l.state.Lookup(uint32(0), &perCPU); err != nil {
		return nil, fmt.Errorf("reading latencies: %w", err)
	}
	r := &Latencies{Counts: make([]uint64, histogram.Size)}
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
