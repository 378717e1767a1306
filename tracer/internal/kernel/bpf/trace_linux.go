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
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

// Tracer reads events. Next is for one goroutine at a time.
type Tracer struct {
	collection
	ring, missed *ebpf.Map
	reader       *eventRing
	order        timeOrder // of what was taken out of the ring
	stopped      atomic.Bool
	broken       atomic.Pointer[error] // why events ended without a call of Stop

	// The last that was read, kept for after Close; mu guards it.
	counts [prog.MissedReasons][]uint64 // by CPU

	watched context.Context // whose end wakes the reader
	unwatch func() bool
}

// NewTracer returns one without a site.
func NewTracer(o Options) (*Tracer, error) {
	t := &Tracer{order: timeOrder{span: uint64(o.Window)}}
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
	if t.missed, err = t.newMap("the counters of hits without events", prog.MissedCounters()); err != nil {
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
	return t.add(files, n, pids, func(base prog.Base) ([]unit, func(), error) {
		events := prog.Events{Ring: t.ring.FD(), Missed: t.missed.FD(), MaxString: max(t.options.MaxString, 1)}
		if t.options.OwnPIDs {
			events.OwnPIDs, _ = loadKernelTypes() // without them there is no second number
		}
		return traceUnits(prog.NewPacker(base, events), files, t.indices), nil, nil
	})
}

// traceUnits packs the code of sites into as few programs as hold it.
func traceUnits(p *prog.Packer, files []File, first int) (units []unit) {
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			at, piece := p.Add(s)
			if at == len(units) {
				units = append(units, unit{name: "waymark_trace", sleepable: true,
					assemble: func(m prog.Means) asm.Instructions { return p.Assemble(at, m) }})
			}
			units[at].sites = append(units[at].sites, place(files, i, j, uint64(piece)<<32|uint64(first)+uint64(s.Index)))
		}
	}
	return units
}

// Next reads the next event into r, whose Body is valid until the next call. Events are in the order of their times
// as far as Options.Window goes. It returns io.EOF after Stop when nothing is left, and the context's error as soon as
// it is done.
func (t *Tracer) Next(ctx context.Context, r *prog.Raw) error {
	t.watch(ctx)
	for {
		switch {
		case t.reader.closed.Load():
			return os.ErrClosed
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if record := t.order.next(); record != nil {
			return r.Decode(record)
		}
		stopped, broken, now := t.stopped.Load(), t.broken.Load(), monotonic()
		batch, err := t.order.empty(), error(nil)
		if batch.bytes, err = t.reader.take(batch.bytes); err != nil {
			return err
		}
		taken := len(batch.bytes) > 0
		if t.order.add(batch); taken {
			continue
		}
		switch t.order.seen(now); {
		case stopped || broken != nil: // and everything was written before that
			if t.order.due(now) >= 0 {
				t.order.flush()
			} else if stopped {
				return io.EOF
			} else {
				return *broken
			}
		default:
			if err := t.reader.wait(t.order.due(now)); err != nil {
				return err
			}
		}
	}
}

// monotonic returns the time on the clock of events.
func monotonic() uint64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0 // which it does not do: nothing would be seen to be due until the end
	}
	return uint64(ts.Nano())
}

// Late returns how many events came too late for the order of time.
func (t *Tracer) Late() uint64 { return t.order.late.Load() }

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
func (t *Tracer) Lost() (uint64, error) { return t.read(prog.MissedLost) }

// LostByCPU is Lost for each CPU.
func (t *Tracer) LostByCPU() ([]uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.readCounts()
	return slices.Clone(t.counts[prog.MissedLost]), err
}

// Filtered returns how many hits had a condition that does not hold.
func (t *Tracer) Filtered() (uint64, error) { return t.read(prog.MissedFiltered) }

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
