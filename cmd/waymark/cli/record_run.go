package cli

import (
	"context"
	"errors"

	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// byDisk is the end of a recording that could not be written.
const byDisk end = "disk"

// recorder is one recording.
type recorder struct {
	s       *session
	out     string // the directory of the trace
	trace   *recording.Writer
	tracers []*tracer.Tracer
	missing string // the first directory on the way to the trace that was not there, "" for none
}

func runRecord(ctx context.Context, env *Env, o *recordOptions, sel *selection) (err error) {
	s, err := env.openSession(ctx, sel)
	if err != nil {
		return err
	}
	out, err := env.openOutput("", s.command != nil) // of the summary
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	view := newRecordView(env, out, o)
	r := &recorder{s: s, out: o.out, missing: missingDirectory(o.out)}
	r.trace, err = recording.Create(o.out, &recording.Options{
		Env: s.circumstances(), Count: o.count,
		Progress: func(sum recording.Summary) { view.progress(&sum, s.elapsed()) },
	})
	if err != nil {
		s.abandon()
		removeEmpty(o.out, r.missing)
		return explainDirectory(o.out, err)
	}
	done := s.attaching()
	r.tracers, err = s.sources(o)
	done()
	if err != nil {
		r.drop()
		return err
	}
	defer r.closeTracers()
	s.ended = r.tracers[0].Ended()
	ends, err := s.begin(ctx, r.skipped(), o.duration, out)
	if err != nil {
		r.drop()
		return err
	}
	sum, why, failure := r.run(ctx, ends)
	view.done()
	status := s.finish(ctx, why)
	if e := view.summary(&sum, s.elapsed(), why, r.problems()); failure == nil {
		failure = e
	}
	if failure != nil {
		return explainDisk(failure)
	}
	return status
}

// drop ends a recording that never began and removes its trace, which would be in the way of the next attempt.
func (r *recorder) drop() {
	r.s.abandon()
	if r.trace.Discard() == nil {
		removeEmpty(r.out, r.missing)
	}
}

// skipped returns the sites that no tracer has.
func (r *recorder) skipped() (all []*tracer.SiteError) {
	for _, t := range r.tracers {
		all = append(all, t.Skipped()...)
	}
	return all
}

func (r *recorder) problems() (all []error) {
	for _, t := range r.tracers {
		all = append(all, t.Problems()...)
	}
	return all
}

func (r *recorder) closeTracers() {
	for _, t := range r.tracers {
		t.Close()
	}
}

// run records until the session ends, and all events that were collected until then.
func (r *recorder) run(ctx context.Context, ends <-chan end) (sum recording.Summary, why end, err error) {
	var sources []source.Source
	for _, t := range r.tracers {
		sources = append(sources, t)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the session ends when its command has, too
	defer cancel()
	var session end
	go func() {
		select {
		case session = <-ends:
			cancel()
		case <-ctx.Done():
		}
	}()
	sum, err = r.trace.Record(ctx, sources...)
	switch {
	case errors.Is(err, ctf.ErrStopped):
		why = byDisk
	case sum.End == recording.EndContext:
		why = session
	case sum.End == recording.EndCount:
		why = byCount
	case sum.End == recording.EndSources:
		<-ctx.Done() // the session ends with them
		why = session
	default:
		why = byError
	}
	return sum, why, err
}
