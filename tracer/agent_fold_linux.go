package tracer

import (
	"errors"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/agentconn"
)

// agentFold reads events as they come and makes something of each.
type agentFold struct {
	events *agentconn.Events
	fold   func(*event.Event)

	mu     sync.Mutex // held while events are folded, and to look at what they came to
	err    error      // why no more were
	closed chan struct{}
	done   sync.WaitGroup
	once   sync.Once
}

// foldInterval is how often events are read: the rings hold what comes meanwhile.
const foldInterval = 20 * time.Millisecond

func newAgentFold(events *agentconn.Events, fold func(*event.Event)) *agentFold {
	f := &agentFold{events: events, fold: fold, closed: make(chan struct{})}
	f.done.Go(func() {
		ticker := time.NewTicker(foldInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				f.mu.Lock()
				f.drain()
				f.mu.Unlock()
			case <-f.closed:
				return
			}
		}
	})
	return f
}

// drain folds what has come. The caller holds mu.
func (f *agentFold) drain() {
	for f.err == nil {
		var e *event.Event
		if e, f.err = f.events.Poll(false); e == nil {
			return
		}
		f.fold(e)
	}
}

// look calls look with all that has come until now folded.
func (f *agentFold) look(look func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drain()
	look()
	return f.err
}

func (f *agentFold) close() (err error) {
	f.once.Do(func() {
		close(f.closed)
		f.done.Wait()
		err = errors.Join(f.events.Close())
	})
	return err
}
