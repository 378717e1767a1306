package cli

import (
	"context"
	"io"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/view"
	"github.com/waymark-trace/waymark/tracer"
)

// watching is what stat, trace and latency do in a session.
type watching struct {
	// attach returns what detaches.
	attach func(*session) (attached, error)
	// show shows what comes until ends says that it is over, and returns why it is.
	show func(s *session, out *term.Output, ends <-chan view.End) (view.End, error)
}

// attached is what hits come to, until it is closed.
type attached interface {
	io.Closer
	Ended() <-chan struct{}
	Skipped() []*tracer.SiteError
}

// runWatching runs a session from the first look at the target to the exit status.
func runWatching(ctx context.Context, e *term.Env, o *watchFlags, sel *selection, w watching) (err error) {
	s, err := openSession(ctx, e, sel)
	if err != nil {
		return err
	}
	out, err := e.OpenOutput(o.out, s.command != nil)
	if err != nil {
		s.abandon()
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	if o.json {
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
	ends, err := s.begin(ctx, attached.Skipped(), o.duration, out)
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
