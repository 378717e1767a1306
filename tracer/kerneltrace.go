package tracer

import "context"

// KernelTracer yields events of the kernel's own tracepoints, such as sched:sched_switch, of all processes, on the clock
// that events of markers have. Next is for one goroutine at a time; the other methods may be called from any.
type KernelTracer struct{ engine kernelTracepoints }

type kernelTracepoints interface {
	all() []*Marker
	next(context.Context) (*Event, error)
	lostByCPU() ([]uint64, error)
	stop() error
	close() error
}

// TraceKernel attaches to the tracepoints that patterns select, such as sched:sched_switch or sched:*. It needs Linux,
// tracefs and the privilege to look at everybody. Their events have markers named kernel:GROUP:NAME, and
// the fields that the kernel's format files say. Of the options BufferSize means something.
func TraceKernel(patterns []string, o *Options) (*KernelTracer, error) {
	engine, err := newKernelTracepoints(patterns, o.orDefault())
	if err != nil {
		return nil, err
	}
	return &KernelTracer{engine}, nil
}

// KernelTracepoints returns the names, GROUP:NAME, of the tracepoints that a pattern selects. There being none is an
// error, and so is that this process may not look.
func KernelTracepoints(pattern string) ([]string, error) { return kernelTracepointNames(pattern) }

// Markers returns what events are of, in no order.
func (t *KernelTracer) Markers() []*Marker { return t.engine.all() }

// Next is Tracer.Next.
func (t *KernelTracer) Next(ctx context.Context) (*Event, error) { return t.engine.next(ctx) }

// LostByCPU is Tracer.LostByCPU.
func (t *KernelTracer) LostByCPU() ([]uint64, error) { return t.engine.lostByCPU() }

// Stop is Tracer.Stop.
func (t *KernelTracer) Stop() error { return t.engine.stop() }

// Close is Tracer.Close.
func (t *KernelTracer) Close() error { return t.engine.close() }
