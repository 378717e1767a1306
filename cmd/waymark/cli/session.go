package cli

import (
	"context"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/explain"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// attachedTo is what there is of so many markers and sites.
func (s *session) attachedTo(skipped []*tracer.SiteError) string {
	markers := len(s.markers)
	for _, all := range view.LeftOut(skipped) {
		if all {
			markers--
		}
	}
	return term.Plural(markers, "marker") + " at " + term.Plural(view.CountSites(s.markers)-len(skipped), "site")
}

// grace is how long a command may take to end by itself after Ctrl-C, which a terminal sends
// to it too, before it is sent SIGTERM.
const grace = time.Second

// stubborn is how long a command may take after SIGTERM before it is left running. Tests have less patience.
var stubborn = 10 * time.Second

// session is one run of stat or trace: markers to attach to, and what ends it.
type session struct {
	env     *term.Env
	named   string
	target  tracer.Target // for Count and Trace: a PID or a path
	markers []*tracer.Marker

	command *tracer.Command
	exited  chan struct{} // closed when the command ended
	result  error         // of its Wait, to be read after that
	stays   error         // that it is left running, to be read after the session's end

	// Of a recording: who is looked at by another engine than target, the markers there, and what
	// else is recorded, in words.
	agents   tracer.Target
	byAgents []*tracer.Marker
	beside   []string

	process processes // of -p
	later   *tracer.Later
	json    *term.Output    // nil without --json
	ended   <-chan struct{} // when everybody who is followed has ended
	over    chan struct{}
	begun   time.Time
}

// openSession finds what the selection names. A command is started, and waits for resume.
func openSession(ctx context.Context, e *term.Env, sel *selection) (*session, error) {
	s := &session{env: e, named: sel.named(), target: sel.target, over: make(chan struct{})}
	var err error
	if s.target.Engine, err = sel.engine.choose(sel.target); err != nil {
		return nil, err
	}
	if err := s.divide(sel); err != nil {
		return nil, err
	}
	if argv := sel.target.Command; len(argv) > 0 {
		if err := s.startCommand(ctx, argv); err != nil {
			return nil, err
		}
	}
	s.target.Follow = sel.target.Follow
	s.process = openProcesses(sel.target.PIDs)
	s.later = s.newLater(sel)
	done := e.Progress("reading the markers of %s", s.named)
	all, err := s.find(ctx)
	done()
	if err == nil {
		all = s.orAgent(ctx, sel, all)
		err = sel.chooseKernel(all)
	}
	if err == nil {
		s.markers, err = s.choose(sel, all)
	}
	if err != nil {
		s.abandon()
		return nil, err
	}
	view.WarnProblems(e, s.markers, false)
	view.WarnUnavailable(e, s.markers)
	view.WarnPlaces(e, s.markers)
	s.part()
	return s, nil
}

func (s *session) startCommand(ctx context.Context, argv []string) error {
	e := s.env
	// Not with ctx: the end of a session is not the death of its command.
	c, err := tracer.Start(context.WithoutCancel(ctx), argv, &tracer.StartOptions{
		Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Agent: s.target.Engine == tracer.EngineAgent,
	})
	if err != nil {
		return explain.Command(argv[0], err)
	}
	s.command, s.exited = c, make(chan struct{})
	s.target = tracer.Target{PID: c.PID(), Engine: s.target.Engine}
	e.OnSecondInterrupt(func() { c.Kill() })
	go func() {
		s.result = c.Wait()
		close(s.exited)
	}()
	return nil
}

// abandon ends a session that never began.
func (s *session) abandon() {
	if s.command != nil {
		s.command.Kill()
		<-s.exited
	}
	s.process.close()
}

// attaching says that it is attaching, when that takes long.
func (s *session) attaching() (done func()) {
	return s.env.Progress("attaching to %s", s.what())
}

// what says what is attached to. What an agent tells of has no sites.
func (s *session) what() string {
	if s.target.Engine == tracer.EngineAgent {
		return view.PointsText(s.markers)
	}
	return term.Plural(len(s.markers), "marker") + " at " + term.Plural(view.CountSites(s.markers), "site")
}

// begin starts what was waiting for the tracer to be attached, save for what is left out, and returns a
// channel that says when and why the session ends.
func (s *session) begin(ctx context.Context, skipped []*tracer.SiteError, limit time.Duration, out *term.Output) (<-chan view.End, error) {
	if err := view.WarnSkipped(s.env, s.json, skipped); err != nil {
		return nil, err
	}
	s.begun = time.Now()
	switch {
	case s.command != nil:
		if err := s.command.Resume(); err != nil {
			return nil, err
		}
	case s.target.Engine == tracer.EngineAgent:
		s.env.Message("attached to %s in %s, through its agent; Ctrl-C ends it", s.what(), s.where())
	default:
		if err := tracer.AwaitPatched(ctx, s.target, s.markers); err != nil && ctx.Err() == nil {
			s.env.Warning("%v; passes of it may be missed", err)
		}
		s.env.Message("attached to %s in %s; Ctrl-C ends it", s.attachedTo(skipped), s.where())
	}
	if len(s.beside) > 0 {
		s.env.Message("and to %s", strings.Join(s.beside, ", and to "))
	}
	ends := make(chan view.End, 1)
	go s.watch(ctx, limit, out, ends)
	return ends, nil
}

// where says which processes are watched.
func (s *session) where() string {
	switch {
	case s.target.Path != "":
		return "every process that maps " + s.named
	case s.target.Follow:
		return s.named + " and its children"
	case len(s.target.PIDs) > 0: // of a recording not all of them
		return pidsText(s.target.PIDs)
	}
	return s.named
}
