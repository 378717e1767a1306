package tracer

// Counter counts the hits of markers in the kernel. Its methods may be called from several
// goroutines.
type Counter struct {
	Attachment
	engine counts
}

// counts is what an engine does for a Counter.
type counts interface {
	engine
	// markers returns those that are attached.
	markers() []*Marker
	// read fills in the hits of each marker, indexed as markers.
	read([]MarkerCount) error
	stop() error
}

// Count attaches to the markers and counts from then on: all markers from one moment on, those of
// Later that appear together from another one. PIDs limits it to
// these processes, Path means every process that maps the file, now and later. The markers come
// from Find for the same target. With Later there need not be any yet.
//
// A hit costs the target a uprobe, about half a microsecond, and the counter no system call.
// With CountOptions.By it costs a tenth of a microsecond more, and more with strings: keys are made
// and counted in the kernel, too.
//
// Until Close the kernel keeps the reference counters raised. When this process ends in any
// other way they are lowered right after.
func Count(t Target, markers []*Marker, o *CountOptions) (*Counter, error) {
	d := o.options()
	t, err := t.checkAttach(markers, d.Later)
	if err != nil {
		return nil, err
	}
	markers, err = d.fields(markers, true)
	if err != nil {
		return nil, err
	}
	if len(markers) > 0 { // of those that are to come nobody knows
		if err := checkKey(markers, d.by); err != nil {
			return nil, err
		}
	}
	engine, err := newCounts(t, markers, d)
	if err != nil {
		return nil, err
	}
	return &Counter{attached(t, engine), engine}, nil
}

// Stop ends counting, for all markers at one moment, and detaches. Read then returns what was counted.
// Without Stop the numbers that one Read returns are of slightly different moments. Further calls do nothing.
func (c *Counter) Stop() error { return c.engine.stop() }

// Read returns the hits since attaching, one for each marker in the order given to Count, and
// behind them those of Later in the order in which they appeared.
// Every hit is counted exactly once. With CountOptions.By it takes a system call for each few
// thousand keys, else one for each marker. After Close it returns os.ErrClosed.
func (c *Counter) Read() ([]MarkerCount, error) {
	markers := c.engine.markers()
	out := make([]MarkerCount, len(markers))
	for i, m := range markers {
		out[i].Marker = m
	}
	if err := c.engine.read(out); err != nil {
		return nil, err
	}
	return out, nil
}
