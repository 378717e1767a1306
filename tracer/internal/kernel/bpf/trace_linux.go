package bpf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"slices"
	"sync/atomic"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// Tracer reads events. Next is for one goroutine at a time.
type Tracer struct {
	collection
	ring, missed *ebpf.Map
	reader       *eventRing
	batch, rest  []byte // what was taken out of the ring, and what of it was not returned
	stopped      atomic.Bool
	broken       atomic.Pointer[error] // why nothing comes any more though nobody stopped it

	// The last that was read, kept for after Close; mu guards it.
	counts [missedReasons][]uint64 // by CPU

	watched context.Context // whose end wakes the reader
	unwatch func() bool
}

// NewTracer returns one without a site.
func NewTracer(o Options) (*Tracer, error) {
	t := &Tracer{}
	if err := t.open(o); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tracer) open(o Options) (err error) {
	if t.ring, err = t.newMap(fmt.Sprintf("a ring of %d bytes", ringSize(o.BufferSize)), &ebpf.MapSpec{
		Name: "waymark_events", Type: ebpf.RingBuf, MaxEntries: ringSize(o.BufferSize),
	}); err != nil {
		return err
	}
	if t.missed, err = t.newMap("the counters of hits without events", &ebpf.MapSpec{
		Name: "waymark_lost", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: missedReasons,
	}); err != nil {
		return err
	}
	if t.reader, err = newEventRing(t.ring); err != nil {
		return err
	}
	if err := t.collection.open(o); err != nil {
		return err
	}
	if t.held.ended() != nil {
		go t.await(t.held)
	}
	return nil
}

// await wakes the reader when the probes are gone before their time.
func (t *Tracer) await(held *attachment) {
	<-held.ended()
	if err := held.Err(); err != nil {
		t.broken.Store(&err)
		t.reader.wake()
	}
}

// ringSize is what the kernel takes: a power of two of at least a page.
func ringSize(n int) uint32 {
	n = max(n, os.Getpagesize())
	return 1 << bits.Len(uint(n-1))
}

// Add attaches to the sites of files, each of which has a plan, as Counter's does.
func (t *Tracer) Add(files []File, n int, pids []int) (skipped []*AttachError, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.add(files, n, pids, func(base traceProgram) ([]unit, func(), error) {
		if t.options.OwnPIDs {
			base.ownPIDs, _ = loadKernelTypes() // without them nobody has a second number
		}
		base.ring, base.lost, base.maxString = t.ring.FD(), t.missed.FD(), max(t.options.MaxString, 1)
		return base.traceUnits(files, t.indices), nil, nil
	})
}

// traceUnits packs plans into as few programs as hold them.
func (base traceProgram) traceUnits(files []File, first int) []unit {
	p := newPacker(base)
	var at [][]placed
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			program, plan := p.add(s)
			for program >= len(at) {
				at = append(at, nil)
			}
			at[program] = append(at[program], place(files, i, j, uint64(plan)<<32|uint64(first)+uint64(s.Index)))
		}
	}
	var units []unit
	for i, pieces := range p.programs {
		units = append(units, unit{name: "waymark_trace", sleepable: true, sites: at[i],
			assemble: func(m Mode, cookie *uint64) asm.Instructions {
				a := base
				a.sleepable, a.cookie = m == Multi, cookie
				return a.assemble(pieces)
			}})
	}
	return units
}

// Next reads the next event into r, whose Body is valid until the next call. It returns
// io.EOF after Stop when nothing is left, and the context's error as soon as it is done.
func (t *Tracer) Next(ctx context.Context, r *Raw) error {
	t.watch(ctx)
	for {
		switch {
		case t.reader.closed.Load():
			return os.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		}
		var record []byte
		if record, t.rest = cutRecord(t.rest); record != nil {
			return r.decode(record)
		}
		stopped, broken := t.stopped.Load(), t.broken.Load()
		var err error
		if t.batch, err = t.reader.take(t.batch); err != nil {
			return err
		}
		switch t.rest = t.batch; {
		case len(t.rest) > 0:
		case stopped: // and everything was written before that
			return io.EOF
		case broken != nil:
			return *broken
		default:
			if err := t.reader.wait(); err != nil {
				return err
			}
		}
	}
}

// watch arranges for a waiting read to return when ctx is done. It is kept from call to
// call, because the context seldom changes.
func (t *Tracer) watch(ctx context.Context) {
	if t.watched == ctx {
		return
	}
	if t.unwatch != nil {
		t.unwatch()
	}
	t.watched = ctx
	t.unwatch = context.AfterFunc(ctx, t.reader.wake)
}

// Lost returns how many events found the ring full.
func (t *Tracer) Lost() (uint64, error) { return t.read(missedLost) }

// LostByCPU is Lost for each CPU.
func (t *Tracer) LostByCPU() ([]uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.readCounts()
	return slices.Clone(t.counts[missedLost]), err
}

// Filtered returns how many hits had a condition that does not hold.
func (t *Tracer) Filtered() (uint64, error) { return t.read(missedFiltered) }

func (t *Tracer) read(reason int) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.readCounts()
	return total(t.counts[reason]), err
}

func (t *Tracer) readCounts() error {
	if t.maps == nil || t.missed == nil {
		return nil
	}
	for i := range t.counts {
		if err := t.missed.Lookup(uint32(i), &t.counts[i]); err != nil {
			return fmt.Errorf("reading the counters of hits without events: %w", err)
		}
	}
	return nil
}

// Stop detaches; Next returns what is left and then io.EOF.
func (t *Tracer) Stop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stop()
}

func (t *Tracer) stop() error {
	if t.held == nil {
		return nil
	}
	err := t.detach()
	t.stopped.Store(true)
	t.reader.wake()
	return err
}

// Close detaches and frees everything. Further calls do nothing.
func (t *Tracer) Close() error {
	t.mu.Lock()
	err := errors.Join(t.stop(), t.readCounts())
	if t.reader != nil {
		err = errors.Join(err, t.reader.close())
	}
	t.mu.Unlock()
	return errors.Join(err, t.collection.Close())
}
