package tracer

import (
	"sync"
	"time"

	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// ending is an engine that is told when the processes of its target have ended.
type ending struct {
	engine
	gone, over chan struct{}
	once       sync.Once
}

// newEnding returns an engine that calls atEnd, then closes its channel of ended, when all processes
// have ended. There is no end without processes.
func newEnding(e engine, pids []int, atEnd func() error) engine {
	if len(pids) == 0 {
		return e
	}
	w := &ending{engine: e, gone: make(chan struct{}), over: make(chan struct{})}
	go func() {
		if w.await(pids) {
			_ = atEnd() // a further call returns what is wrong
			close(w.gone)
		}
	}()
	return w
}

// await returns true when the processes have ended, and false after Close. The engine may know the
// end, of children too.
func (w *ending) await(pids []int) bool {
	if ended := w.engine.ended(); ended != nil {
		select {
		case <-ended:
			return true
		case <-w.over:
			return false
		}
	}
	begun := map[int]uint64{}
	for _, pid := range pids {
		if st, err := model.Running(pid); err == nil {
			begun[pid] = st.Start
		}
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for len(begun) > 0 {
		select {
		case <-tick.C:
		case <-w.over:
			return false
		}
		for pid, start := range begun {
			if st, err := model.Running(pid); err != nil || st.Start != start {
				delete(begun, pid)
			}
		}
	}
	return true
}

func (w *ending) ended() <-chan struct{} { return w.gone }

func (w *ending) Close() error {
	w.once.Do(func() { close(w.over) })
	return w.engine.Close()
}
