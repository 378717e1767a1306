package bpf

import (
	"encoding/json"
	"sync"

	"github.com/waymark-trace/waymark/tracer/internal/kernel/guard"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/seize"
)

// stopper stops threads until they are released. Its methods are for several goroutines.
type stopper interface {
	Stop(process, thread int) error
	Release(thread int) error
	Close() error
}

// newStopper returns a stopper in a guard of its own, which can stop children of this process too, and always at
// once; or one in this process where there can be no guard.
func newStopper() stopper {
	g, err := guard.Start()
	if err != nil {
		return seize.New()
	}
	return &guardStopper{guard: g}
}

// guardStopper stops threads in a guard.
type guardStopper struct {
	mu    sync.Mutex // guards requests
	guard *guard.Guard
}

func (s *guardStopper) Stop(process, thread int) error {
	return s.ask(&request{Stop: &stopRequest{process, thread}})
}

func (s *guardStopper) Release(thread int) error { return s.ask(&request{Release: thread}) }

func (s *guardStopper) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.guard.Close()
}

func (s *guardStopper) ask(r *request) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b, err = s.guard.Do(b, nil); err != nil {
		return err
	}
	return decodeAnswer(b).refused.asError()
}

// stopRequest is a thread to be stopped.
type stopRequest struct{ Process, Thread int }
