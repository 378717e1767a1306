package cli

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/tracer"
)

// end says why a session ended. It is part of what --json prints.
type end string

const (
	byInterrupt end = "interrupt" // Ctrl-C or SIGTERM
	byDuration  end = "duration"  // -d
	byCount     end = "count"     // -n
	byCommand   end = "command"   // the command ended
	byProcess   end = "process"   // the process of -p ended
	byOutput    end = "output"    // nobody reads any more
	byError     end = "error"     // nothing could be read any more, or written
)

// grace is how long a command may take to end by itself after Ctrl-C, which a terminal sends
// to it too, before it is sent SIGTERM.
const grace = time.Second

// stubborn is how long a command may take after SIGTERM before it is left running. Tests have less patience.
var stubborn = 10 * time.Second

// session is one run of stat or trace: markers to attach to, and what ends it.
type session struct {
	env     *Env
	named   string
	target  subject // for Count and Trace: a PID or a path
	markers []*tracer.Marker

	command *tracer.Command
	exited  chan struct{} // closed when the command ended
	result  error         // of its Wait, to be read after that
	stays   error         // that it is left running, to be read after the session's end

	// Of a recording: who is looked at by another engine than target, the markers there, and what
	// else is recorded, in words.
	agents   subject
	byAgents []*tracer.Marker
	beside   []string

	process processes // of -p
	later   *tracer.Later
	json    *output         // nil without --json
	ended   <-chan struct{} // when everybody who is followed has ended
	over    chan struct{}
	begun   time.Time
}

// openSession finds what the selection names. A command is started, and waits for resume.
func (e *Env) openSession(ctx context.Context, sel *selection) (*session, error) {
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
	done := e.progress("reading the markers of %s", s.named)
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
	e.warnProblems(s.markers, false)
	e.warnUnavailable(s.markers)
	e.warnPlaces(s.markers)
	s.part()
	return s, nil
}

func (s *session) startCommand(ctx context.Context, argv []string) error {
	e := s.env
	// Not with ctx: the end of a session is not the death of its command.
	c, err := tracer.Start(context.WithoutCancel(ctx), argv, &tracer.StartOptions{
		Stdin: e.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Engine: s.target.Engine,
	})
	if err != nil {
		return explainCommand(argv[0], err)
	}
	s.command, s.exited = c, make(chan struct{})
	engine, _ := c.Target().Engine() // Start has chosen it
	s.target = subject{PID: c.PID(), Engine: engine}
	e.onSecondInterrupt(func() { c.Signal(os.Kill) })
	go func() {
		s.result = c.Wait()
		close(s.exited)
	}()
	return nil
}

// abandon ends a session that never began.
func (s *session) abandon() {
	if s.command != nil {
		s.command.Signal(os.Kill)
		<-s.exited
	}
	s.process.close()
}

// attaching says that it is attaching, when that takes long.
func (s *session) attaching() (done func()) {
	return s.env.progress("attaching to %s", s.what())
}

// what says what is attached to. What an agent tells of has no sites.
func (s *session) what() string {
	if s.target.Engine == tracer.EngineAgent {
		return pointsText(s.markers)
	}
	return plural(len(s.markers), "marker") + " at " + plural(sites(s.markers), "site")
}

// pointsText counts markers and tracepoints.
func pointsText(markers []*tracer.Marker) string {
	n := 0
	for _, m := range markers {
		if m.Tracepoint {
			n++
		}
	}
	switch n {
	case 0:
		return plural(len(markers), "marker")
	case len(markers):
		return plural(n, "tracepoint")
	}
	return plural(len(markers)-n, "marker") + " and " + plural(n, "tracepoint")
}

func sites(markers []*tracer.Marker) int {
	n := 0
	for _, m := range markers {
		n += len(m.Sites)
	}
	return n
}

// begin starts what was waiting for the tracer to be attached, save for what is left out, and returns a
// channel that says when and why the session ends.
func (s *session) begin(ctx context.Context, skipped []*tracer.SiteError, limit time.Duration, out *output) (<-chan end, error) {
	if err := s.skips(skipped); err != nil {
		return nil, err
	}
	s.begun = time.Now()
	switch {
	case s.command != nil:
		if err := s.command.Resume(); err != nil {
			return nil, err
		}
	case s.target.Engine == tracer.EngineAgent:
		s.env.message("attached to %s in %s, through its agent; Ctrl-C ends it", s.what(), s.where())
	default:
		if err := tracer.AwaitPatched(ctx, s.target.target(), s.markers); err != nil && ctx.Err() == nil {
			s.env.warning("%v; passes of it may be missed", err)
		}
		s.env.message("attached to %s in %s; Ctrl-C ends it", s.attachedTo(skipped), s.where())
	}
	if len(s.beside) > 0 {
		s.env.message("and to %s", strings.Join(s.beside, ", and to "))
	}
	ends := make(chan end, 1)
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
