package cli

import (
	"context"
	"io"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// watching is what a verb does in a session.
type watching struct {
	out   string // of -o
	json  bool
	limit time.Duration // 0 for none
	// attach attaches to the markers of the session.
	attach func(*session) (attached, error)
	// show shows hits until ends yields why the session ends, and returns that.
	show func(s *session, out *term.Output, ends <-chan view.End) (view.End, error)
}

// attached receives hits until it is closed, which may happen twice.
type attached interface {
	io.Closer
	Ended() <-chan struct{}
	Skipped() []*tracer.SiteError
}

// runWatching runs a session from the first look at the target to the exit status.
func runWatching(ctx context.Context, e *term.Env, sel *selection, w watching) (err error) {
	s, err := openSession(ctx, e, sel)
	if err != nil {
		return err
	}
	out, err := e.OpenOutput(w.out, s.command != nil)
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	if w.json {
		s.json = out
	}
	done := s.attaching()
	attached, err := w.attach(s)
	done()
	if err != nil {
		s.abandon()
		return err
	}
	defer attached.Close()
	s.ended = attached.Ended()
	out.Begin()
	ends, err := s.begin(ctx, attached.Skipped(), w.limit, out)
	if err != nil {
		s.abandon()
		return err
	}
	why, failure := w.show(s, out, ends)
	attached.Close() // before the command, which may still run, sees that it is over
	status := s.finish(ctx, why)
	if failure != nil {
		return failure
	}
	return status
}
