package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/ctf"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/recording"
	"github.com/waymark-trace/waymark/tracer"
)

// circumstances are what the trace says of the session.
func (s *session) circumstances() []ctf.EnvEntry {
	env := []ctf.EnvEntry{recording.Text("target", s.named)}
	if info, ok := debug.ReadBuildInfo(); ok {
		env = append(env, recording.Text("tracer_version", info.Main.Version))
	}
	for i, f := range view.Files(append(slices.Clone(s.markers), s.byAgents...)) {
		env = append(env, recording.Text(fmt.Sprintf("executable_%d", i), f.Path))
		if f.BuildID != "" {
			env = append(env, recording.Text(fmt.Sprintf("build_id_%d", i), f.BuildID))
		}
	}
	for i, pid := range append(slices.Clone(s.target.PIDs), s.agents.PIDs...) {
		env = append(env, recording.Number(fmt.Sprintf("pid_%d", i), int64(pid)))
	}
	return env
}

// missingDirectory returns the first directory on the way to path that is not there, "" when path is there.
func missingDirectory(path string) (missing string) {
	for path = filepath.Clean(path); ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = path
	}
}

// removeEmpty removes path and the directories on the way to it, from missing on, as long as they are empty.
func removeEmpty(path, missing string) {
	if missing == "" {
		return
	}
	for path = filepath.Clean(path); os.Remove(path) == nil && path != missing; {
		path = filepath.Dir(path)
	}
}

// recorder is one recording.
type recorder struct {
	s       *session
	out     string // the directory of the trace
	trace   *recording.Writer
	tracers []*tracer.Tracer
	missing string // the first directory on the way to the trace that was not there, "" for none
}

func runRecord(ctx context.Context, env *term.Env, o *recordOptions, sel *selection) (err error) {
	s, err := openSession(ctx, env, sel)
	if err != nil {
		return err
	}
	out, err := env.OpenOutput("", s.command != nil) // of the summary
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	v := &view.RecordView{Env: env, Out: out, JSON: o.json, Dir: o.out}
	r := &recorder{s: s, out: o.out, missing: missingDirectory(o.out)}
	r.trace, err = recording.Create(o.out, &recording.Options{
		Env: s.circumstances(), Count: o.count,
		Progress: func(sum recording.Summary) { v.Progress(&sum, s.elapsed()) },
	})
	if err != nil {
		s.abandon()
		removeEmpty(o.out, r.missing)
		return explain.Directory(o.out, err)
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
	env.Status("")
	status := s.finish(ctx, why)
	if e := v.Summary(&sum, s.elapsed(), why, r.problems()); failure == nil {
		failure = e
	}
	if failure != nil {
		return explain.Disk(failure)
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
func (r *recorder) run(ctx context.Context, ends <-chan view.End) (sum recording.Summary, why view.End, err error) {
	var sources []source.Source
	for _, t := range r.tracers {
		sources = append(sources, t)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // the session ends when its command has, too
	defer cancel()
	var session view.End
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
		why = view.ByDisk
	case sum.End == recording.EndContext:
		why = session
	case sum.End == recording.EndCount:
		why = view.ByCount
	case sum.End == recording.EndSources:
		why = view.ByProcess
	default:
		why = view.ByError
	}
	return sum, why, err
}
