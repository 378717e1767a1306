package cli

import (
	"context"
	"errors"
	"io"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer"
)

func runTrace(ctx context.Context, env *term.Env, o *traceOptions, sel *selection) error {
	var events *tracer.Tracer
	return runWatching(ctx, env, &o.watchFlags, sel, watching{
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
		show: func(s *session, out *term.Output, ends <-chan view.End) (view.End, error) {
			var v view.TraceView = view.NewTraceText(out, events.Clock(), view.MarkerPoints(s.markers))
			if o.json {
				v = view.NewTraceJSON(out, events.Clock())
			}
			sum, err := s.follow(events, v, o.count, ends)
			if n, e := events.Filtered(); o.where != "" && e == nil {
				sum.Filtered = &n
			} else if o.where != "" && err == nil {
				err = e
			}
			if err == nil {
				err = v.Summary(sum)
			}
			if err == nil {
				err = out.Flush() // events before their summary
			}
			if !term.IsBrokenPipe(err) {
				summarize(env, sum)
			}
			return sum.End, err
		},
	})
}

// follow prints events until limit of them are (0 for no limit) or the session ends, and says how
// it went, after an error too.
func (s *session) follow(events *tracer.Tracer, v view.TraceView, limit uint64, ends <-chan view.End) (*view.TraceSummary, error) {
	sum := &view.TraceSummary{}
	err := s.printEvents(events, v, limit, ends, sum)
	sum.Elapsed = s.elapsed()
	if e := events.Stop(); err == nil {
		err = e
	}
	sum.Problems = events.Problems()
	lost, e := events.Lost()
	if sum.Lost, sum.Unread = lost, e != nil; err == nil {
		err = e
	}
	return sum, err
}

// PrintEvents is follow without its end. What was collected before the end is printed too.
func (s *session) printEvents(events *tracer.Tracer, v view.TraceView, limit uint64, ends <-chan view.End, sum *view.TraceSummary) error {
	type stop struct {
		why view.End
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
	for limit == 0 || sum.Events < limit {
		err := events.Read(context.Background(), &e)
		if errors.Is(err, io.EOF) {
			st := <-stopped
			sum.End = st.why
			return st.err
		}
		if err == nil {
			err = v.Event(&e)
		}
		if err != nil {
			sum.End = view.ByOutput
			return err
		}
		sum.Events++
	}
	sum.End = view.ByCount
	return nil
}

// summarize says how it went.
func summarize(e *term.Env, sum *view.TraceSummary) {
	sum.Print(e)
	view.WarnLost(e, sum.Problems)
	if sum.Lost > 0 && len(sum.Problems) == 0 {
		e.Hint("a larger --buffer, fewer markers or a shorter --max-string lose fewer")
	}
}
