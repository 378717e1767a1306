package tracer

import (
	"context"
	"os"
)

// orderless reports whether the rings can be read one after another: those of several processes
// are one CPU's events together, and have to be sorted; and of a snapshot what came later is left out.
func (a *agentEvents) orderless() bool { return len(a.sessions) == 1 && a.sessions[0].last == 0 }

// each reads the rings without sorting what they have.
func (a *agentEvents) each(ctx context.Context, fn func(*Event)) error {
	for nap := leastNap; ; {
		over := false
		select {
		case <-a.halted:
			over = true // and what is read from now on is all
		default:
		}
		n, more, err := a.eachOnce(fn)
		if err != nil {
			return err
		}
		switch {
		case more:
			continue
		case over:
			return nil
		case n > 0:
			nap = leastNap
		default:
			nap = min(2*nap, mostNap)
		}
		if err := a.sleep(ctx, nap); err != nil {
			return err
		}
	}
}

// eachOnce goes once over all rings. It returns how many events it found, and whether one has more.
func (a *agentEvents) eachOnce(fn func(*Event)) (n int, more bool, err error) {
	s := a.sessions[0]
	for i := range s.Rings() {
		found, err := a.eachOf(s, i, fn)
		if err != nil {
			return n, false, err
		}
		n += found
		more = more || found == maxBatch
	}
	return n, more, nil
}

// eachOf reads at most maxBatch events of a ring and gives back their space.
func (a *agentEvents) eachOf(s *agentSession, ring int, fn func(*Event)) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, os.ErrClosed
	}
	for ; n < maxBatch; n++ {
		rec, err := s.Next(ring)
		if err != nil {
			return n, err
		}
		if rec == nil {
			break
		}
		if err := s.fill(&s.event, rec, ring); err != nil {
			return n, err
		}
		fn(&s.event)
	}
	return n, s.Consume(ring)
}
