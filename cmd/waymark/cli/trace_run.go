package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

// traceView prints events.
type traceView interface {
	event(*event.Event) error
	summary(*traceSummary) error
}

// traceSummary is what trace says at its end.
type traceSummary struct {
	events, lost uint64
	lostPackets  uint64  // of a trace on disk
	unread       bool    // how many were lost is not known
	filtered     *uint64 // nil without a condition
	problems     []error // why all events of a marker were lost
	elapsed      time.Duration
	end          end
}

func runTrace(ctx context.Context, env *Env, o *traceOptions, sel *selection) error {
	var events *tracer.Tracer
	return env.watch(ctx, &o.watchFlags, sel, watching{
		attach: func(s *session) (_ attached, err error) {
			if events, err = tracer.Trace(s.target, s.markers, &tracer.Options{
				Where: o.where, Vars: o.vars, Strings: o.str, MaxString: o.max, BufferSize: int(o.buffer),
				OwnPIDs: o.own || o.json, Later: s.later,
			}); err != nil {
				return nil, err
			}
			s.noteBuffer(events, o.buffer)
			return events, nil
		},
		show: func(s *session, out *output, ends <-chan end) (end, error) {
			var view traceView = newTraceText(out, events.Clock(), markerPoints(s.markers))
			if o.json {
				view = newTraceJSON(out, events.Clock())
			}
			sum, err := s.follow(events, view, o.count, ends)
			if n, e := events.Filtered(); o.where != "" && e == nil {
				sum.filtered = &n
			} else if o.where != "" && err == nil {
				err = e
			}
			if err == nil {
				err = view.summary(sum)
			}
			if err == nil {
				err = out.flush() // events before their summary
			}
			if !isBrokenPipe(err) {
				env.summarize(sum)
			}
			return sum.end, err
		},
	})
}

// markerPoints returns the points of markers.
func markerPoints(markers []*tracer.Marker) []*event.Point {
	points := make([]*event.Point, len(markers))
	for i, m := range markers {
		points[i] = &m.Point
	}
	return points
}

// follow prints events until limit of them are (0 for no limit) or the session ends, and says how
// it went, after an error too.
func (s *session) follow(events *tracer.Tracer, view traceView, limit uint64, ends <-chan end) (*traceSummary, error) {
	sum := &traceSummary{}
	err := s.printEvents(events, view, limit, ends, sum)
	sum.elapsed = s.elapsed()
	if e := events.Stop(); err == nil {
		err = e
	}
	sum.problems = events.Problems()
	lost, e := events.Lost()
	if sum.lost, sum.unread = lost, e != nil; err == nil {
		err = e
	}
	return sum, err
}

// printEvents is follow without its end. What was collected before the end is printed too.
func (s *session) printEvents(events *tracer.Tracer, view traceView, limit uint64, ends <-chan end, sum *traceSummary) error {
	type stop struct {
		why end
		err error
	}
	stopped := make(chan stop, 1)
	go func() {
		select {
		case why := <-ends:
			stopped <- stop{why, events.Stop()}
		case <-s.over:
		}
	}()
	var e event.Event
	for limit == 0 || sum.events < limit {
		err := events.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			st := <-stopped
			sum.end = st.why
			return st.err
		}
		if err == nil {
			err = view.event(&e)
		}
		if err != nil {
			sum.end = byOutput
			return err
		}
		sum.events++
	}
	sum.end = byCount
	return nil
}

// summarize says how it went.
func (e *Env) summarize(sum *traceSummary) {
	others := ""
	if sum.filtered != nil {
		others = fmt.Sprintf(" and %d others", *sum.filtered)
	}
	lost := fmt.Sprint(sum.lost)
	if sum.unread {
		lost = "an unknown number"
	}
	e.message("%s%s, %s lost, in %s", plural(sum.events, "event"), others, lost, seconds(sum.elapsed))
	e.warnLost(sum.problems)
	if sum.lost > 0 && len(sum.problems) == 0 {
		e.hint("a larger --buffer, fewer markers or a shorter --max-string lose fewer")
	}
}
