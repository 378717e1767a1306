// Package session runs the verbs that attach to a target: it resolves what a command line selects to processes, engines and
// markers, starts a command, waits for libraries that are loaded later, and ends at a signal, a limit, or the target's end.
package session

import (
	"context"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// grace is how long a command may take to end by itself after Ctrl-C, which a terminal sends
// to it too, before it is sent SIGTERM.
const grace = time.Second

// stubborn is how long a command may take after SIGTERM before it is left running. Tests have less patience.
var stubborn = 10 * time.Second

// Session is one run of a verb: markers to attach to, and what ends it.
type Session struct {
	Env     *term.Env
	Subject Subject // processes or a path
	Markers []*tracer.Marker
	Later   *tracer.Later   // for markers that appear later, nil if none can
	Command *tracer.Command // nil without one

	late   lateFaults
	named  string
	exited chan struct{} // closed when the command ended
	result error         // of its Wait, to be read after that
	stays  error         // that it is left running, to be read after the session's end

	// Of a recording: the processes that are traced by their agents beside those of Subject, their
	// markers, and what else is recorded, in words.
	agents   Subject
	byAgents []*tracer.Marker
	beside   []string

	process processes       // of -p
	file    *fileState      // of FILE as it was when the session began, nil without
	json    *term.Output    // nil without --json
	ended   <-chan struct{} // when all processes that are followed have ended
	over    chan struct{}
	begun   time.Time
	took    atomic.Int64 // from then to the end of counting, 0 before
}

// open finds what the selection names. A command is started, and waits for resume.
func open(ctx context.Context, e *term.Env, sel *Selection) (*Session, error) {
	s := &Session{Env: e, named: sel.Named(), Subject: sel.Subject, over: make(chan struct{})}
	s.late.lacking = map[string]bool{}
	if argv := sel.Subject.Command; len(argv) > 0 {
		if err := s.startCommand(ctx, argv, sel.Engine.of()); err != nil {
			return nil, err
		}
	}
	s.Subject.Follow = sel.Subject.Follow
	s.process = openProcesses(sel.Subject.PIDs)
	if s.Subject.Path != "" {
		s.file = lookAt(s.Subject.Path) // before its markers are read
	}
	s.Later = s.newLater(sel)
	if err := s.resolve(ctx, sel); err != nil {
		s.abandon()
		return nil, err
	}
	return s, nil
}

func (s *Session) startCommand(ctx context.Context, argv []string, engine tracer.Engine) error {
	e, std := s.Env, s.Env.Lend()
	// Not with ctx: the end of a session is not the death of its command.
	c, err := tracer.Start(context.WithoutCancel(ctx), argv, &tracer.StartOptions{
		Stdin: std.Stdin, Stdout: std.Stdout, Stderr: std.Stderr, Engine: engine,
	})
	if err != nil {
		return explain.Command(argv[0], err)
	}
	s.Command, s.exited = c, make(chan struct{})
	s.Subject = Subject{PID: c.PID(), Engine: c.Target().Engine()}
	e.OnSecondInterrupt(func() { c.Signal(os.Kill) })
	go func() {
		s.result = c.Wait()
		close(s.exited)
	}()
	return nil
}

// abandon ends a session that never began.
func (s *Session) abandon() {
	if s.Command != nil {
		s.Command.Signal(os.Kill)
		<-s.exited
	}
	s.process.close()
}

// what counts the markers and sites that are attached to. Points that an agent reports have no sites.
func (s *Session) what(skipped []*tracer.SiteError) string {
	if s.Subject.Engine == tracer.EngineAgent {
		return view.PointsText(s.Markers)
	}
	markers := len(s.Markers)
	for _, all := range view.LeftOut(skipped) {
		if all {
			markers--
		}
	}
	return term.Plural(markers, "marker") + " at " + term.Plural(view.CountSites(s.Markers)-len(skipped), "site")
}

// begin starts what was waiting for the tracer to be attached, save for what is left out, and returns a
// channel that says when and why the session ends.
func (s *Session) begin(ctx context.Context, skipped []*tracer.SiteError, limit time.Duration, out *term.Output) (<-chan view.End, error) {
	if err := view.WarnSkipped(s.Env, s.json, skipped); err != nil {
		return nil, err
	}
	s.begun = time.Now()
	switch {
	case s.Command != nil:
		if err := s.Command.Resume(); err != nil {
			return nil, err
		}
	case s.Subject.Engine == tracer.EngineAgent:
		s.Env.Message("attached to %s in %s, through its agent; Ctrl-C ends it", s.what(nil), s.where())
	default:
		if err := tracer.AwaitPatched(ctx, s.Subject.Target(), s.Markers); err != nil && ctx.Err() == nil {
			s.Env.Warning("%v; passes of it may be missed", err)
		}
		s.Env.Message("attached to %s in %s; Ctrl-C ends it", s.what(skipped), s.where())
	}
	if len(s.beside) > 0 {
		s.Env.Message("and to %s", strings.Join(s.beside, ", and to "))
	}
	ends := make(chan view.End, 1)
	go s.watch(ctx, limit, out, ends)
	if s.file != nil {
		go s.watchFile()
	}
	return ends, nil
}

// where says which processes are watched.
func (s *Session) where() string {
	switch {
	case s.Subject.Path != "":
		return "every process that maps " + s.named
	case s.Subject.Follow:
		return s.named + " and its children"
	case len(s.Subject.PIDs) > 0: // of a recording not all of them
		return pidsText(s.Subject.PIDs)
	}
	return s.named
}

// Verb is what a verb does in a session.
type Verb struct {
	Out   string // of -o
	JSON  bool
	Limit time.Duration // 0 for none
	// Attach attaches to the markers of the session.
	Attach func(*Session) (Attached, error)
	// Show shows hits until ends yields why the session ends, and returns that.
	Show func(s *Session, out *term.Output, ends <-chan view.End) (view.End, error)
	// Summary, unless nil, is printed last: after the end of a command that the session ends.
	Summary func(*term.Output) error
}

// Attached receives hits until it is closed, which may happen twice.
type Attached interface {
	io.Closer
	Ended() <-chan struct{}
	Skipped() []*tracer.SiteError
	Missing() error
}

// Run runs a session from the first look at the target to the exit status.
func Run(ctx context.Context, e *term.Env, sel *Selection, v Verb) (err error) {
	s, err := open(ctx, e, sel)
	if err != nil {
		return err
	}
	out, err := e.OpenOutput(v.Out, s.Command != nil)
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	if v.JSON {
		s.json = out
	}
	done := s.Env.Progress("attaching to %s", s.what(nil))
	attached, err := v.Attach(s)
	done()
	if err != nil {
		s.abandon()
		return err
	}
	defer attached.Close()
	s.ended = attached.Ended()
	out.Begin()
	ends, err := s.begin(ctx, attached.Skipped(), v.Limit, out)
	if err != nil {
		s.abandon()
		return err
	}
	why, failure := v.Show(s, out, ends)
	attached.Close() // before the command, which may still run, sees that it is over
	status := s.lateStatus(sel, attached, s.finish(ctx, why))
	if v.Summary != nil {
		if err := v.Summary(out); failure == nil {
			failure = err
		}
	}
	if failure != nil {
		return failure
	}
	return status
}
