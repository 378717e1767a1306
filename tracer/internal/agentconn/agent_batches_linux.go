package agentconn

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/waymark-trace/waymark/internal/ring"
)

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
