package tracer

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
