package tracer

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/wire"
)

// agentEvents reads the events that agents record.
type agentEvents struct {
	sessions []*agentSession

	closing chan struct{} // closed by Close
	once    sync.Once
	halting sync.Once
	halted  chan struct{} // closed when nothing is recorded any more
	haltErr error

	mu     sync.Mutex // of reading
	closed bool
	ready  []*event.Event // in order
	rest   []*event.Event // read, but others may come before them
	err    error          // to be returned after ready
}

func newAgentEvents(t Target, markers []*Marker, o Options) (*agentEvents, error) {
	if err := checkAgent(t, markers); err != nil {
		return nil, err
	}
	size := int64(o.BufferSize)
	if o.usual {
		size = 0 // as much, or what there is room for
	}
	sessions, err := startSessions(t, markers, wire.Session{
		Mode: wire.Discard, Size: size, Where: o.Where, MaxString: o.MaxString,
	})
	if err != nil {
		return nil, err
	}
	return &agentEvents{sessions: sessions, closing: make(chan struct{}), halted: make(chan struct{})}, nil
}

func (a *agentEvents) next(ctx context.Context, into *event.Event, _ *[]byte) error {
	for pace := (ring.Pace{}); ; {
		over := false
		select {
		case <-a.halted:
			over = true // and what is read from now on is all
		default:
		}
		e, err := a.poll(over)
		if err != nil {
			return err
		}
		if e != nil {
			*into = *e
			return nil
		}
		if over {
			continue // until poll has nothing and says so
		}
		if err := a.sleep(ctx, pace.Next(0)); err != nil {
			return err
		}
	}
}

// sleep waits for a time, or until nothing is recorded any more.
func (a *agentEvents) sleep(ctx context.Context, nap time.Duration) error {
	timer := time.NewTimer(nap)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-a.closing:
		return os.ErrClosed
	case <-a.halted:
	case <-timer.C:
	}
	return nil
}

// poll returns an event, if there is one. Over says that no more are written.
func (a *agentEvents) poll(over bool) (*event.Event, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, os.ErrClosed
	}
	if len(a.ready) == 0 && a.err == nil {
		a.fill()
	}
	if len(a.ready) > 0 {
		e := a.ready[0]
		a.ready = a.ready[1:]
		return e, nil
	}
	if a.err != nil {
		return nil, a.err
	}
	if over && len(a.rest) == 0 {
		return nil, io.EOF
	}
	return nil, nil
}

// fill reads all sessions.
func (a *agentEvents) fill() {
	events, until := a.rest, time.Duration(1<<63-1)
	for _, s := range a.sessions {
		var upTo time.Duration
		var err error
		events, upTo, err = s.read(events)
		until = min(until, upTo)
		a.err = errors.Join(a.err, err)
	}
	if a.err != nil {
		until = 1<<63 - 1
	}
	a.ready, a.rest = merge(events, until)
}

func (a *agentEvents) counts() (lost []uint64, filtered uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, 0, os.ErrClosed
	}
	for _, s := range a.sessions {
		if lost, err = s.counts(lost, &filtered); err != nil {
			return nil, 0, err
		}
	}
	return lost, filtered, nil
}

func (a *agentEvents) problems() (all []error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		if !a.closed {
			all = append(all, s.problems()...)
		}
	}
	return all
}

func (a *agentEvents) lostByCPU() ([]uint64, error) {
	lost, _, err := a.counts()
	return lost, err
}

func (a *agentEvents) losses() (all []source.Loss, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, os.ErrClosed
	}
	for _, s := range a.sessions {
		if all, err = s.losses(all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (a *agentEvents) stream() (string, []string) {
	return "agent", []string{source.BufferFull, source.NoRing, source.Undescribed}
}

func (a *agentEvents) order() source.Order { return source.Arrival }

func (a *agentEvents) lost() (sum uint64, err error) {
	lost, err := a.lostByCPU()
	for _, n := range lost {
		sum += n
	}
	return sum, err
}

func (a *agentEvents) filtered() (uint64, error) {
	_, n, err := a.counts()
	return n, err
}

// buffer returns the size of the smallest rings.
func (a *agentEvents) buffer() int64 {
	size := int64(1<<63 - 1)
	for _, s := range a.sessions {
		size = min(size, s.size)
	}
	return size
}

func (a *agentEvents) points() (all []*event.Point) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		if !a.closed {
			all = append(all, s.points()...)
		}
	}
	return all
}

// Wall uses the clock of the first program, because all programs share CLOCK_MONOTONIC.
func (a *agentEvents) Wall(t time.Duration) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Unix(0, int64(t)+a.sessions[0].Wall())
}

// ended is nil: whoever gave the processes sees them end.
func (a *agentEvents) ended() <-chan struct{} { return nil }

// skipped are none: a program arms its own markers.
func (a *agentEvents) skipped() []*SiteError { return nil }

func (a *agentEvents) stop() error {
	a.halting.Do(func() {
		for _, s := range a.sessions {
			a.haltErr = errors.Join(a.haltErr, s.halt())
		}
		close(a.halted)
	})
	return a.haltErr
}

func (a *agentEvents) Close() error {
	var err error
	a.once.Do(func() {
		err = a.stop()
		close(a.closing)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.closed = true
		closeSessions(a.sessions)
	})
	return err
}
