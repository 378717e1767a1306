package bpf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// TracepointReader reads events of the kernel's tracepoints. Next is for one goroutine at a time.
type TracepointReader struct {
	points     []prog.Tracepoint
	ring, lost *ebpf.Map
	reader     *ringbuf.Reader
	record     ringbuf.Record
	stopped    atomic.Bool

	mu     sync.Mutex // guards what follows
	links  []link.Link
	closed bool
}

// pollInterval is how often the buffer is looked into. Programs wake nobody, which would itself be events.
const pollInterval = 20 * time.Millisecond

// NewTracepointReader attaches to the tracepoints, for all processes.
func NewTracepointReader(points []prog.Tracepoint, bufferSize int) (*TracepointReader, error) {
	t := &TracepointReader{points: points}
	if err := t.open(bufferSize); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

func (t *TracepointReader) open(bufferSize int) (err error) {
	if t.ring, err = newMap(&ebpf.MapSpec{Name: "waymark_kernel", Type: ebpf.RingBuf, MaxEntries: ringSize(bufferSize)}); err != nil {
		return fmt.Errorf("creating a ring of %d bytes: %w", ringSize(bufferSize), err)
	}
	if t.lost, err = newMap(prog.Counters("waymark_lost", 1)); err != nil {
		return fmt.Errorf("creating the counter of lost events: %w", err)
	}
	if t.reader, err = ringbuf.NewReader(t.ring); err != nil {
		return fmt.Errorf("mapping the ring: %w", err)
	}
	t.reader.SetDeadline(time.Now()) // or the first read would wait for a wake-up
	pids, err := ownPIDNamespace()
	if err != nil {
		return err
	}
	for i := range t.points {
		if err := t.attach(i, pids); err != nil {
			return err
		}
	}
	return nil
}

func (t *TracepointReader) attach(i int, pids *prog.Namespace) error {
	p := &t.points[i]
	ins, err := p.Program(i, t.ring.FD(), t.lost.FD(), pids)
	if err != nil {
		return err
	}
	loaded, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "waymark_kernel", Type: ebpf.TracePoint, License: "Dual MIT/GPL", Instructions: ins})
	if err != nil {
		return fmt.Errorf("loading eBPF program for kernel tracepoint %s:%s: %w", p.Group, p.Name, err)
	}
	defer loaded.Close() // the link holds it
	l, err := link.Tracepoint(p.Group, p.Name, loaded, nil)
	if err != nil {
		return fmt.Errorf("attaching to kernel tracepoint %s:%s: %w", p.Group, p.Name, err)
	}
	t.links = append(t.links, l)
	return nil
}

// Next reads the next event into e. It returns io.EOF after Stop when nothing is left, and the context's error
// within a moment of its end.
func (t *TracepointReader) Next(ctx context.Context, e *prog.TracepointEvent) error {
	for {
		stopped := t.stopped.Load()
		err := t.reader.ReadInto(&t.record)
		switch {
		case err == nil:
			return e.Decode(t.points, t.record.RawSample)
		case !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, ringbuf.ErrFlushed):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case stopped:
			return io.EOF
		}
		t.reader.SetDeadline(time.Now().Add(pollInterval))
	}
}

// LostByCPU returns how many events of each CPU found the ring full.
func (t *TracepointReader) LostByCPU() ([]uint64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil
	}
	var lost []uint64
	_, err := sum(t.lost, 0, &lost)
	return lost, err
}

// Stop detaches; Next returns what is left and then io.EOF.
func (t *TracepointReader) Stop() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.detach()
}

func (t *TracepointReader) detach() error {
	err := detach(t.links)
	t.links = nil
	t.stopped.Store(true)
	return err
}

// Close detaches and frees everything. Further calls do nothing.
func (t *TracepointReader) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	err := t.detach()
	if t.reader != nil {
		err = errors.Join(err, t.reader.Close())
	}
	return errors.Join(err, t.ring.Close(), t.lost.Close()) // nil has nothing to close
}
