package agent

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/inproc/problem"
	"github.com/waymark-trace/waymark/internal/shm/rundir"
	"github.com/waymark-trace/waymark/internal/shm/wire"
)

// Agent is a running agent.
type Agent struct {
	listener *wire.Listener
	path     string
	self     rundir.Process
	served   chan struct{} // closed when the listener's goroutine has ended

	mu       sync.Mutex
	stopping bool
	clients  map[*client]bool
	requests budget
	accepts  budget
	waiting  chan struct{} // closed when the program may go on; nil when it does not wait
	went     bool          // it is closed

	sessions sessions
}

// running is the program's agent: one is enough, and two could not have the same socket.
var running struct {
	sync.Mutex
	agent *Agent
}

// Start starts the program's agent. It listens until Stop.
func Start(o *Options) (*Agent, error) {
	if o == nil {
		o = &Options{}
	}
	a, err := start(o)
	if err != nil {
		return nil, fmt.Errorf("starting the agent: %w", err)
	}
	if o.Wait > 0 {
		a.await(o.Wait)
	}
	return a, nil
}

func start(o *Options) (*Agent, error) {
	running.Lock()
	defer running.Unlock()
	if running.agent != nil {
		return nil, ErrRunning
	}
	if os.Getuid() != os.Geteuid() || os.Getgid() != os.Getegid() {
		return nil, ErrElevated
	}
	self, err := rundir.Self()
	if err != nil {
		return nil, err
	}
	dir, err := rundir.Create()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	_, _ = dir.Clean(rundir.MaxDead) // files left by other programs do not prevent a start
	listener, err := wire.Listen(dir.Inside(self.Socket()))
	if err != nil {
		return nil, fmt.Errorf("listening at %s/%s: %w", dir.Path(), self.Socket(), err)
	}
	a := &Agent{
		listener: listener, path: dir.Path() + "/" + self.Socket(), self: self,
		served: make(chan struct{}), clients: map[*client]bool{}, requests: budget{share: requestShare}, accepts: budget{share: acceptShare},
	}
	if a.sessions.limit = o.MaxBytes; a.sessions.limit <= 0 {
		a.sessions.limit = defaultBytes
	}
	if o.Wait > 0 {
		a.waiting = make(chan struct{})
	}
	running.agent = a
	go a.serve()
	return a, nil
}

func auto(env string) {
	o := &Options{}
	switch env, before, had := strings.Cut(env, ":"); env {
	case "0":
		return
	case "wait":
		o.Wait = autoWait
		// A tracer waits for this program alone: one that it executes would wait for nothing.
		if had {
			os.Setenv(variable, before)
		} else {
			os.Unsetenv(variable)
		}
	}
	if _, err := Start(o); err != nil && !errors.Is(err, ErrRunning) {
		problem.Report(err)
	}
}

// Socket returns the path of the agent's socket.
func (a *Agent) Socket() string { return a.path }

// Stop ends all connections and recordings, named ones too, undoes their effects and removes the
// socket. The agent can be started again. Further calls do nothing.
func (a *Agent) Stop() error {
	a.mu.Lock()
	if a.stopping {
		a.mu.Unlock()
		<-a.served
		return nil
	}
	a.stopping = true
	for c := range a.clients {
		c.conn.Close()
	}
	a.mu.Unlock()
	a.goOn()
	a.listener.Shut()
	<-a.served
	a.listener.Close()
	for a.connected() > 0 {
		time.Sleep(time.Millisecond) // a client's goroutine undoes its effects
	}
	err := a.sessions.stopAll(a.self)
	if e := os.Remove(a.path); err == nil && !errors.Is(e, os.ErrNotExist) {
		err = e
	}
	running.Lock()
	running.agent = nil
	running.Unlock()
	if err != nil {
		return fmt.Errorf("stopping the agent: %w", err)
	}
	return nil
}

func (a *Agent) connected() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.clients)
}

// await returns when a tracer lets the program go on, or none has come in time.
func (a *Agent) await(patience time.Duration) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		select {
		case <-a.waiting:
			return
		case <-timer.C:
			if a.connected() == 0 {
				a.goOn()
			}
			timer.Reset(patience)
		}
	}
}

// goOn lets a program that waits go on.
func (a *Agent) goOn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting != nil && !a.went {
		a.went = true
		close(a.waiting)
	}
}

func (a *Agent) waits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.waiting != nil && !a.went
}
