package tracer

import (
	"context"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Tracer yields the events of markers and implements source.Source. Read must not be
// called by several goroutines at once. The other methods may be called from any goroutine.
type Tracer struct {
	Attachment
	engine events
}

var _ source.Stopper = (*Tracer)(nil)

// events is what an engine does for a Tracer.
type events interface {
	engine
	source.Stopper
	Stream() (name string, reasons []string)
	Filtered() (uint64, error)
	Late() uint64
}

// fullBuffers returns the losses from full kernel buffers, by CPU.
func fullBuffers(stream string, byCPU []uint64) (lost []source.Loss) {
	for cpu, n := range byCPU {
		if n > 0 {
			lost = append(lost, source.Loss{Stream: stream, CPU: cpu, Reason: source.BufferFull, Count: n})
		}
	}
	return lost
}

// Trace attaches to the markers and collects their events from then on. Targets and costs
// are those of Count, with some hundred nanoseconds more per event.
func Trace(t Target, markers []*Marker, o *TraceOptions) (*Tracer, error) {
	d := o.options()
	t, err := t.checkAttach(markers, d.Later)
	if err != nil {
		return nil, err
	}
	markers, err = d.fields(markers, true)
	if err != nil {
		return nil, err
	}
	engine, err := newEvents(t, markers, d)
	if err != nil {
		return nil, err
	}
	return &Tracer{Attachment{newEnding(engine, t.pids, engine.Stop)}, engine}, nil
}

// Read fills in the next event and waits for it. It allocates nothing: Values and their texts are
// used again by the next Read, unless Event.Clone copies them.
//
// Events come in the order of their times: an event waits for Window, so that earlier ones of other
// CPUs, which were still being written, come before it. One that is later than that comes at once,
// after events with later times, and Late counts it. Events of TraceKernel come as they were written.
//
// Read returns io.EOF after the last event once Stop was called or all processes of the target have
// ended, and os.ErrClosed after Close. It returns the context's error as soon as the context is done:
// that ends this Read only, and nothing is detached or lost.
func (t *Tracer) Read(ctx context.Context, e *event.Event) error { return t.engine.Read(ctx, e) }

// Points returns the points of events: those of the attached markers, with the fields that Options
// adds. Agents describe a point at its first hit, so their points are new and appear only then.
func (t *Tracer) Points() []*event.Point { return t.engine.Points() }

// Clock converts the times of events, on CLOCK_MONOTONIC, to the time of day.
func (t *Tracer) Clock() source.Clock { return t.engine.Clock() }

// Buffer returns the size of the buffer, in bytes, where that can be less than what Options have:
// an agent that is asked for no size in particular takes no more than half of the memory that its
// program has left. It is 0 with the kernel's engine.
func (t *Tracer) Buffer() int64 {
	if b, ok := t.engine.(interface{ Buffer() int64 }); ok {
		return b.Buffer()
	}
	return 0
}

// Window is how long Tracer.Read keeps an event for the sake of order.
const Window = model.Window

// Late returns the number of events so far that Read returned after events with later times, because
// they were written more than Window after their time: their thread was preempted in the probe, or
// waited for memory.
func (t *Tracer) Late() uint64 { return t.engine.Late() }

// Filtered returns the number of hits so far that Attach.Where rejected.
func (t *Tracer) Filtered() (uint64, error) { return t.engine.Filtered() }

// Losses returns the numbers of events lost so far, by CPU and reason. Together with the events
// returned, and Filtered, they are every hit: after Stop, exactly.
func (t *Tracer) Losses() ([]source.Loss, error) { return t.engine.Losses() }

// Order returns the order of events: that of time but for those that Late counts, so it is
// source.Arrival. Events of a dead program and of a snapshot are all in the order of time.
func (t *Tracer) Order() source.Order { return t.engine.Order() }

// Stream returns the name that the events' files have in a recorded trace, "kernel", "agent" or
// "tracepoints", and the reasons that Losses can have.
func (t *Tracer) Stream() (name string, reasons []string) { return t.engine.Stream() }

// Rings returns the rings from which the agent engine reads, or nil for the kernel engine. It is for
// package recording, which copies their memory.
func (t *Tracer) Rings() ring.Batcher {
	b, _ := t.engine.(ring.Batcher)
	return b
}

// Problems returns the reasons why agents cannot record some markers and all their events are lost.
// For example, Attach.Where does not fit the types of a marker's fields, which are known only at
// its first hit. The kernel engine has no problems, because it refuses to attach. After Close there
// are none either.
func (t *Tracer) Problems() []error {
	if p, ok := t.engine.(interface{ Problems() []error }); ok {
		return p.Problems()
	}
	return nil
}

// Stop detaches. Events that were collected before are still returned by Read, then io.EOF.
// Further calls do nothing.
func (t *Tracer) Stop() error { return t.engine.Stop() }

// TraceKernel attaches to the kernel's tracepoints that match patterns, such as sched:sched_switch
// or sched:*, in all processes. It needs Linux, tracefs and the privilege to trace all processes.
// The points of its events are named kernel:GROUP:NAME and have the fields of the kernel's format
// files. The events use the same clock as those of markers. bufferSize is that of
// Attach.
func TraceKernel(patterns []string, bufferSize int) (*Tracer, error) {
	engine, err := newKernelTracepoints(patterns, Attach{BufferSize: bufferSize}.options())
	if err != nil {
		return nil, err
	}
	return &Tracer{Attachment{engine}, engine}, nil
}

// KernelTracepoints returns the names, GROUP:NAME, of the tracepoints that match a pattern. It
// returns an error if there are none, or if this process may not trace them.
func KernelTracepoints(pattern string) ([]string, error) { return kernelTracepointNames(pattern) }
