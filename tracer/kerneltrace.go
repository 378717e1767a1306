package tracer

// TraceKernel attaches to the kernel's own tracepoints that patterns select, such as sched:sched_switch or sched:*,
// in all processes. It needs Linux, tracefs and the privilege to trace all processes. Their events have points named
// kernel:GROUP:NAME, with the fields of the kernel's format files, on the clock that events of markers have. Of the
// options only BufferSize is read.
func TraceKernel(patterns []string, o *Options) (*Tracer, error) {
	engine, err := newKernelTracepoints(patterns, o.orDefault())
	if err != nil {
		return nil, err
	}
	return &Tracer{engine: engine}, nil
}

// KernelTracepoints returns the names, GROUP:NAME, of the tracepoints that a pattern selects. It is an
// error if there are none, and if this process may not trace them.
func KernelTracepoints(pattern string) ([]string, error) { return kernelTracepointNames(pattern) }
