package agentconn

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/ring"
	"github.com/waymark-trace/waymark/internal/wire"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Events reads the events that agents record.
type Events struct {
	sessions []*Session

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

// Record starts a recording of the markers in each process that has any of them.
func Record(pids []int, markers []*model.Marker, how wire.Session) (*Events, error) {
	sessions, err := StartSessions(pids, markers, how)
	if err != nil {
		return nil, err
	}
	return &Events{sessions: sessions, closing: make(chan struct{}), halted: make(chan struct{})}, nil
}

func (a *Events) Read(ctx context.Context, into *event.Event) error {
	for pace := (ring.Pace{}); ; {
		over := false
		select {
		case <-a.halted:
			over = true // and what is read from now on is all
		default:
		}
		e, err := a.Poll(over)
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
func (a *Events) sleep(ctx context.Context, nap time.Duration) error {
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

// Poll returns an event, if there is one. Over says that no more are written.
func (a *Events) Poll(over bool) (*event.Event, error) {
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
func (a *Events) fill() {
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

func (a *Events) Problems() (all []error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		if !a.closed {
			all = append(all, s.Problems()...)
		}
	}
	return all
}

func (a *Events) Losses() (all []source.Loss, err error) {
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

func (a *Events) Stream() (string, []string) {
	return "agent", []string{source.BufferFull, source.NoRing, source.Undescribed}
}

func (a *Events) Order() source.Order { return source.Arrival }

// Filtered returns the number of hits rejected by the condition.
func (a *Events) Filtered() (sum uint64, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, os.ErrClosed
	}
	for _, s := range a.sessions {
		for i := range s.Rings() {
			n, err := s.Counts(i)
			if err != nil {
				return 0, err
			}
			sum += n.Filtered
		}
	}
	return sum, nil
}

// Buffer returns the size of the smallest rings.
func (a *Events) Buffer() int64 {
	size := int64(1<<63 - 1)
	for _, s := range a.sessions {
		size = min(size, s.size)
	}
	return size
}

func (a *Events) Points() (all []*event.Point) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		if !a.closed {
			all = append(all, s.points()...)
		}
	}
	return all
}

// Clock returns the clock of the programs.
func (a *Events) Clock() source.Clock { return a }

// Wall uses the clock of the first program, because all programs share CLOCK_MONOTONIC.
func (a *Events) Wall(t time.Duration) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return time.Unix(0, int64(t)+a.sessions[0].Wall())
}

func (a *Events) Stop() error {
	a.halting.Do(func() {
		for _, s := range a.sessions {
			a.haltErr = errors.Join(a.haltErr, s.Halt())
		}
		close(a.halted)
	})
	return a.haltErr
}

func (a *Events) Close() error {
	var err error
	a.once.Do(func() {
		err = a.Stop()
		close(a.closing)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.closed = true
		CloseSessions(a.sessions)
	})
	return err
}
