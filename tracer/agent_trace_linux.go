package tracer

import (
	"github.com/waymark-trace/waymark/internal/wire"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
)

// agentTracer is the engine of a Tracer of agents.
type agentTracer struct{ *agentconn.Events }

// ended is nil: whoever gave the processes sees them end.
func (agentTracer) ended() <-chan struct{} { return nil }

// skipped are none: a program arms its own markers.
func (agentTracer) skipped() []*SiteError { return nil }

func newAgentEvents(t Target, markers []*Marker, o options) (*agentconn.Events, error) {
	if err := checkAgent(t, markers); err != nil {
		return nil, err
	}
	size := int64(o.BufferSize)
	if o.usual {
		size = 0 // as much, or what there is room for
	}
	return agentconn.Record(t.pids, markers, wire.Session{Mode: wire.Discard, Size: size, Where: o.Where, MaxString: o.maxString})
}
