package bpf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/ringbuf"
)

// Tracer reads events. Next is for one goroutine at a time.
type Tracer struct {
	ring, missed *ebpf.Map
	patterns     *ebpf.Map // nil without conditions on texts
	reader       *ringbuf.Reader
	record       ringbuf.Record
	stopped      atomic.Bool
	base         traceProgram
	broken       atomic.Pointer[error] // why nothing comes any more though nobody stopped it

	mu     sync.Mutex // guards what follows
	held   *attachment
	closed bool
	// The last that was read, kept for after Close.
	counts [missedReasons]uint64

	watched context.Context // whose end wakes the reader
	unwatch func() bool
}

// NewTracer attaches to the sites, each of which has a plan.
func NewTracer(files []File, o Options) (*Tracer, error) {
	t := &Tracer{}
	if err := t.open(files, o); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *Tracer) open(files []File, o Options) (err error) {
	if t.ring, err = newMap(&ebpf.MapSpec{
		Name: "waymark_events", Type: ebpf.RingBuf, MaxEntries: ringSize(o.BufferSize),
	}); err != nil {
		return fmt.Errorf("creating a ring of %d bytes: %w", ringSize(o.BufferSize), err)
	}
	if t.missed, err = newMap(&ebpf.MapSpec{
		Name: "waymark_lost", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: missedReasons,
	}); err != nil {
		return fmt.Errorf("creating the counters of hits without events: %w", err)
	}
	if t.patterns, err = newPatterns(files); err != nil {
		return err
	}
	if t.reader, err = ringbuf.NewReader(t.ring); err != nil {
		return fmt.Errorf("mapping the ring: %w", err)
	}
	if t.base, err = newTraceBase(t, o); err != nil {
		return err
	}
	if t.held, err = attach(files, t.units(files), o); err != nil {
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
		_ = t.reader.Flush()
	}
}

// ringSize is what the kernel takes: a power of two of at least a page.
func ringSize(n int) uint32 {
	n = max(n, os.Getpagesize())
	return 1 << bits.Len(uint(n-1))
}

// newTraceBase returns what all programs of a tracer have in common.
func newTraceBase(t *Tracer, o Options) (traceProgram, error) {
	b, err := newProgram(t.patterns, o)
	b.ring, b.lost, b.maxString = t.ring.FD(), t.missed.FD(), max(o.MaxString, 1)
	return b, err
}

// Add attaches to more sites. Their indices are the caller's, as before.
func (t *Tracer) Add(files []File, o Options) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == nil {
		return os.ErrClosed
	}
	if t.patterns == nil { // there were no sites until now
		var err error
		if t.patterns, err = newPatterns(files); err != nil {
			return err
		}
		if t.patterns != nil {
			t.base.patterns = t.patterns.FD()
		}
	}
	return t.held.add(files, t.units(files), o)
}

// units packs plans into as few programs as hold them.
func (t *Tracer) units(files []File) []unit {
	p := newPacker(t.base)
	var at [][]placed
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			program, plan := p.add(s)
			for program >= len(at) {
				at = append(at, nil)
			}
			at[program] = append(at[program], place(files, i, j, uint64(plan)<<32|uint64(s.Index)))
		}
	}
	var units []unit
	for i, pieces := range p.programs {
		units = append(units, unit{name: "waymark_trace", sleepable: true, sites: at[i],
			assemble: func(m Mode, cookie *uint64) asm.Instructions {
				a := t.base
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
		if err := ctx.Err(); err != nil {
			return err
		}
		stopped, broken := t.stopped.Load(), t.broken.Load()
		err := t.reader.ReadInto(&t.record)
		switch {
		case err == nil:
			return r.decode(t.record.RawSample)
		case !errors.Is(err, ringbuf.ErrFlushed):
			return err
		case stopped:
			// Everything was written before stopped was set, and the reader found the end after.
			return t.end(io.EOF)
		case broken != nil:
			return t.end(*broken)
		case t.stopped.Load() || t.broken.Load() != nil:
			// This end was found before, for an older context: look for it again.
			if err := t.reader.Flush(); err != nil {
				return err
			}
		}
	}
}

// end returns err, and arranges for the next read to find the end again.
func (t *Tracer) end(err error) error {
	_ = t.reader.Flush()
	return err
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
	t.unwatch = context.AfterFunc(ctx, func() { _ = t.reader.Flush() })
}

// Lost returns how many events found the ring full.
func (t *Tracer) Lost() (uint64, error) { return t.read(missedLost) }

// Filtered returns how many hits had a condition that does not hold.
func (t *Tracer) Filtered() (uint64, error) { return t.read(missedFiltered) }

func (t *Tracer) read(reason int) (uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.readCounts()
	return t.counts[reason], err
}

func (t *Tracer) readCounts() error {
	if t.closed || t.missed == nil {
		return nil
	}
	for i := range t.counts {
		n, err := sum(t.missed, uint32(i), new([]uint64))
		if err != nil {
			return fmt.Errorf("reading the counters of hits without events: %w", err)
		}
		t.counts[i] = n
	}
	return nil
}

// Stop detaches; Next returns what is left and then io.EOF.
func (t *Tracer) Stop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.detach()
}

func (t *Tracer) detach() error {
	if t.held == nil {
		return nil
	}
	err := t.held.Close()
	t.held = nil
	t.stopped.Store(true)
	return errors.Join(err, t.reader.Flush())
}

// Close detaches and frees everything. Further calls do nothing.
func (t *Tracer) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	err := t.detach()
	err = errors.Join(err, t.readCounts())
	t.closed = true
	if t.reader != nil {
		err = errors.Join(err, t.reader.Close())
	}
	if t.ring != nil {
		err = errors.Join(err, t.ring.Close())
	}
	if t.missed != nil {
		err = errors.Join(err, t.missed.Close())
	}
	return errors.Join(err, t.patterns.Close()) // nil has nothing to close
}
