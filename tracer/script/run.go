package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/internal/script/eval"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// Options configures a run.
type Options struct {
	Out  io.Writer // of print, printf and so on
	JSON bool      // print JSON, one object a line, in bpftrace's format
	// Escape makes characters in texts of events visible that a terminal might act on, now or when a file is shown on one.
	Escape bool
	// Message takes the texts of errorf and warnf, with their severity and position. Nil drops them.
	Message func(severity, position, text string)
	// Events ends the run after so many events for which the predicate of a probe held, if it is not 0.
	Events uint64
	// Duration ends the run so long after the beginning of the trace, if it is not 0.
	Duration time.Duration
}

// Result is the outcome of a run.
type Result struct {
	Status   int    // of exit()
	Exited   bool   // the script called exit()
	Events   uint64 // events for which the predicate of a probe held
	Lost     uint64 // events that the source lost
	Warnings []string
	Elapsed  time.Duration // from the first event to the end
}

// run is the state of a run.
type run struct {
	*Program
	machine *eval.Machine
	options *Options
	source  source.Source
	ticks   []tick
	points  map[*event.Point][]*ir.Probe
	now     time.Duration
	begin   time.Duration
	result  *Result
}

// tick is an interval and the time at which it fires next.
type tick struct {
	probe *ir.Probe
	at    time.Duration
}

// Run executes the program on the events of a source that are in the order of their times, such as those of a recorded trace. The
// end of the context ends it as exit() does. An error of the source is returned after END was executed and the maps were printed.
func (p *Program) Run(ctx context.Context, s source.Source, o *Options) (*Result, error) {
	clock := s.Clock()
	r := &run{Program: p, options: o, source: s, points: map[*event.Point][]*ir.Probe{}, result: &Result{}}
	r.machine = eval.New(p.ir, eval.Options{
		Out: o.Out, JSON: o.JSON, Escape: o.Escape, System: system,
		Wall:    func(nanos int64) time.Time { return clock.Wall(time.Duration(nanos)).Local() },
		Message: o.Message, File: p.file,
	})
	for _, probe := range p.ir.Probes {
		switch probe.Kind {
		case ir.Point:
			for _, point := range probe.Points {
				r.points[point] = append(r.points[point], probe)
			}
		case ir.Interval:
			r.ticks = append(r.ticks, tick{probe: probe})
		}
	}
	r.machine.Attached(len(p.ir.Probes))
	err := r.events(ctx)
	r.all(context.WithoutCancel(ctx), ir.End)
	lost, lossErr := s.Losses()
	if r.result.Lost = source.Total(lost); r.result.Lost > 0 {
		r.machine.Lost(r.result.Lost)
	}
	r.machine.PrintMaps()
	r.result.Status, r.result.Exited = r.machine.Exited()
	r.result.Elapsed = r.now - r.begin
	for _, w := range r.machine.Warnings() {
		r.result.Warnings = append(r.result.Warnings, p.warning(w))
	}
	return r.result, errors.Join(r.machine.Err(), err, lossErr)
}

// events executes BEGIN, and then probes and intervals in the order of time.
func (r *run) events(ctx context.Context) error {
	var e event.Event
	err := r.source.Read(ctx, &e)
	if err == nil {
		r.now = e.Time
	}
	r.begin = r.now
	r.machine.Start(int64(r.begin))
	for i := range r.ticks {
		r.ticks[i].at = r.begin + time.Duration(r.ticks[i].probe.Period)
	}
	r.all(ctx, ir.Begin)
	for ; err == nil && !r.exited(); err = r.source.Read(ctx, &e) {
		if limit := r.options.Duration; limit > 0 && e.Time-r.begin > limit {
			r.advance(ctx, r.begin+limit)
			return nil
		}
		if r.advance(ctx, e.Time); r.exited() {
			return nil
		}
		probes := r.points[e.Point]
		if len(probes) == 0 {
			continue
		}
		matched := false
		for _, p := range probes {
			matched = r.machine.Hit(ctx, p, int64(r.now), &e) || matched
		}
		if !matched {
			continue
		}
		if r.result.Events++; r.result.Events == r.options.Events {
			return nil
		}
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func (r *run) exited() bool {
	_, exited := r.machine.Exited()
	return exited
}

// advance executes the intervals up to a time, which becomes the present one.
func (r *run) advance(ctx context.Context, to time.Duration) {
	for ctx.Err() == nil && !r.exited() {
		var first *tick
		for i := range r.ticks {
			if t := &r.ticks[i]; t.at <= to && (first == nil || t.at < first.at) {
				first = t
			}
		}
		if first == nil {
			break
		}
		r.now = first.at
		first.at += time.Duration(first.probe.Period)
		r.machine.Hit(ctx, first.probe, int64(r.now), nil)
	}
	if !r.exited() {
		r.now = max(r.now, to)
	}
}

// all executes the probes of a kind in the order of the script.
func (r *run) all(ctx context.Context, k ir.ProbeKind) {
	for _, p := range r.ir.Probes {
		if p.Kind == k {
			r.machine.Hit(ctx, p, int64(r.now), nil)
		}
	}
}

// system runs a command of the shell.
func system(ctx context.Context, command string) ([]byte, error) {
	return exec.CommandContext(ctx, "sh", "-c", command).Output()
}

// warning returns the sentence of a counted warning.
func (p *Program) warning(w eval.Warning) string {
	at := p.file.At(syntax.Span{Begin: w.At, End: w.At})
	times := fmt.Sprintf("%d times", w.Count)
	if w.Count == 1 {
		times = "once"
	}
	switch w.Reason {
	case eval.DivisionByZero:
		return fmt.Sprintf("%s: division by zero, which gives 1: %s", at, times)
	case eval.NoKey:
		return fmt.Sprintf("%s: delete of a key that is not there: %s", at, times)
	case eval.Unreadable:
		return fmt.Sprintf("%s: the event has no value for this field, which is 0 or empty then: %s", at, times)
	case eval.LoopLimit:
		return fmt.Sprintf("%s: a loop ended because a hit had %d iterations: %s", at, 8<<20, times)
	case eval.Dropped:
		return fmt.Sprintf("%s: %%d and the like print 32 bits of a larger number; write %%ld: %s", at, times)
	case eval.ThreadKey:
		return fmt.Sprintf("%s: goroutines change threads, and tid is a key: %s; write goid, or config = { tid_is = goroutine }", at, times)
	case eval.HeldFull:
		return fmt.Sprintf("output of a speculation was dropped, because it had no room: %s", times)
	}
	return fmt.Sprintf("map %s was full with %d keys, and updates with new keys were dropped: %s; set max_map_keys in the config block, or write let %s = hash(N)",
		w.Map, w.Limit, times, w.Map)
}
