package agentconn

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/internal/shm/wire"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
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
	newest time.Duration  // of those that were returned
	late   uint64         // how many were not in the order of time
}

// Wait says for how long events wait for earlier ones of other rings, which are written, or read, after them.
type Wait time.Duration

// The waits.
const (
	Ordered  = Wait(model.Window)            // as Tracer.Read promises
	Now      = Wait(-100 * time.Microsecond) // as long as reading takes: all that was written before is returned, however the clocks differ
	Finished = Wait(math.MinInt64)           // no more is written
)

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
		wait := Ordered
		select {
		case <-a.halted:
			wait = Finished // and what is read from now on is all
		default:
		}
		e, err := a.Poll(wait)
		if err != nil {
			return err
		}
		if e != nil {
			*into = *e
			return nil
		}
		if wait == Finished {
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

// Poll returns an event, if there is one whose turn it is.
func (a *Events) Poll(wait Wait) (*event.Event, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil, os.ErrClosed
	}
	if len(a.ready) == 0 && a.err == nil {
		a.fill(wait)
	}
	if len(a.ready) > 0 {
		e := a.ready[0]
		a.ready = a.ready[1:]
		if e.Time < a.newest {
			a.late++
		}
		a.newest = max(a.newest, e.Time)
		return e, nil
	}
	if a.err != nil {
		return nil, a.err
	}
	if wait == Finished && len(a.rest) == 0 {
		return nil, io.EOF
	}
	return nil, nil
}

// fill reads all sessions. What is written meanwhile, to a ring that was read already, has a later time than now.
func (a *Events) fill(wait Wait) {
	events, until := a.rest, time.Duration(1<<63-1)
	if wait != Finished {
		until = monotonic() - time.Duration(wait)
	}
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

// monotonic returns the time on the clock of events.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 1<<63 - 1 // which it does not do: then events do not wait
	}
	return time.Duration(ts.Nano())
}

// Late returns how many events came too late for the order of time.
func (a *Events) Late() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.late
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

// batches hands over what the rings have, one after another and again.
func (a *Events) Batches(ctx context.Context, fn func(*ring.Batch)) error {
	filled := 0.0    // what part of a ring since the last nap, at most
	var broken error // of rings, of which no more is read; of those of a program that has ended the others are
	for pace := (ring.Pace{}); ; {
		over := false
		select {
		case <-a.halted:
			over = true // and what is read from now on is all
		default:
		}
		most, more, err := a.batchesOnce(fn)
		if broken = errors.Join(broken, err); broken != nil && !over || ctx.Err() != nil {
			return errors.Join(broken, ctx.Err())
		}
		filled += most
		switch {
		case more:
			continue
		case over:
			return broken
		}
		if err := a.sleep(ctx, pace.Next(filled)); err != nil {
			return err
		}
		filled = 0
	}
}

// batchesOnce reads each ring once. It returns the largest filled share of a ring, and whether a
// ring has more.
func (a *Events) batchesOnce(fn func(*ring.Batch)) (filled float64, more bool, err error) {
	for _, s := range a.sessions {
		if s.broken == nil {
			s.broken = make([]bool, s.Rings())
		}
		for i := range s.Rings() {
			if s.broken[i] {
				continue
			}
			before := s.Position(i)
			taken, e := a.batch(s, i, fn)
			if e != nil {
				s.broken[i], err = true, errors.Join(err, e)
				continue
			}
			filled = max(filled, float64(s.Position(i)-before)/float64(s.Info().RingSize))
			more = more || taken >= maxBatch
		}
	}
	return filled, more, err
}

// batch delivers the events of one ring, about maxBatch at most, and frees their space.
func (a *Events) batch(s *Session, cpu int, fn func(*ring.Batch)) (taken int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, os.ErrClosed
	}
	b := &s.batch
	*b = ring.NewBatch(s.PID, cpu, s.comm, &s.Source, maxBatch)
	fn(b)
	if taken, err = b.Taken(); err != nil {
		return 0, err
	}
	return taken, s.Consume(cpu)
}

// Run returns the next events of a ring, or nil if there are none yet.
func (s *Source) Run(i int) (*ring.Run, error) {
	if s.over != nil && s.over[i] {
		return nil, nil
	}
	next, err := s.Reader.Run(i)
	if next == nil || err != nil {
		return nil, err
	}
	if s.last > 0 {
		late := func(h ring.Head) bool { return h.Monotonic > int64(s.last) }
		if n := slices.IndexFunc(next.Heads, late); n >= 0 {
			next.Heads = next.Heads[:n]
			s.finish(i)
		}
	}
	if len(next.Heads) == 0 {
		return nil, nil
	}
	return next, nil
}

// finish notes that what follows in a ring came too late.
func (s *Source) finish(ring int) {
	if s.over == nil {
		s.over = make([]bool, s.Rings())
	}
	s.over[ring] = true
}
