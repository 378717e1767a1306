package runtimetrace

import (
	"context"
	"runtime/trace"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/sink/internal/join"
)

// region is a pair of markers between which a region lies.
type region struct{ name string }

// regions has the open regions by goroutine. Only the goroutine itself uses its stack.
type regions struct{ open *join.Table[*stack] }

// stack is the regions of one goroutine, the innermost last.
type stack struct {
	open []opened
	deep int // begins beyond maxDepth, whose ends must not close those below
}

type opened struct {
	of *region
	as *trace.Region
}

// maxDepth bounds the memory of begins without an end.
const maxDepth = 1024

func newRegions() regions { return regions{join.NewTable[*stack]()} }

func (s *Sink) beginRegion(ctx context.Context, e *marker.Event, q *region) {
	k, _ := join.KeyOf(e, "")
	st, ok := s.regions.open.Get(k)
	if !ok {
		st = &stack{}
		// No other goroutine's stack may give way: a region that is not closed when an outer one is
		// makes the trace unreadable.
		if !s.regions.open.Add(k, st) {
			s.dropped.Add(1)
			return
		}
		s.kept.Store(true)
	}
	if len(st.open) == maxDepth {
		st.deep++
		s.dropped.Add(1)
		return
	}
	st.open = append(st.open, opened{q, trace.StartRegion(ctx, q.name)})
}

func (s *Sink) endRegion(e *marker.Event, q *region) {
	k, _ := join.KeyOf(e, "")
	st, ok := s.regions.open.Get(k)
	if !ok {
		s.unbegun.Add(1)
		return
	}
	if st.deep > 0 {
		st.deep--
		return
	}
	at := len(st.open) - 1
	for at >= 0 && st.open[at].of != q {
		at--
	}
	if at < 0 {
		s.unbegun.Add(1)
		return
	}
	for i := len(st.open) - 1; i >= at; i-- {
		st.open[i].as.End()
	}
	s.unended.Add(uint64(len(st.open) - 1 - at))
	clear(st.open[at:])
	if st.open = st.open[:at]; at == 0 {
		s.regions.open.Take(k)
	}
}
