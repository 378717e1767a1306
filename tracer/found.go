package tracer

import "context"

// Found is a target with the markers that were found in it. Its methods attach to that target, by the engine that
// found them.
type Found struct {
	Markers []*Marker
	target  Target
}

// Find returns the markers of the target, as the function Find does, together with the target.
//
//	found, err := tracer.PIDs(pid).Find(ctx)
//	markers, err := found.Select("http:*")
//	events, err := found.Trace(markers, nil)
func (t Target) Find(ctx context.Context) (*Found, error) {
	t, markers, err := t.resolve(ctx)
	if err != nil {
		return nil, err
	}
	return &Found{markers, t}, nil
}

// Target returns the target, with the engine that found the markers.
func (f *Found) Target() Target { return f.target }

// Select returns the markers that patterns choose, as the function Select does.
func (f *Found) Select(patterns ...string) ([]*Marker, error) { return Select(f.Markers, patterns) }

// Count counts hits of some of the markers, as the function Count does.
func (f *Found) Count(markers []*Marker, o *CountOptions) (*Counter, error) {
	return Count(f.target, markers, o)
}

// Latency measures the time from hits of begin to hits of end, as the function Latency does.
func (f *Found) Latency(begin, end []*Marker, o *LatencyOptions) (*Pairs, error) {
	return Latency(f.target, begin, end, o)
}

// Trace reads the events of some of the markers, as the function Trace does.
func (f *Found) Trace(markers []*Marker, o *TraceOptions) (*Tracer, error) {
	return Trace(f.target, markers, o)
}
