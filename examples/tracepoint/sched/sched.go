// Package sched runs tasks in turn, one at a time: a cooperative scheduler. It traces with its own types, and knows nothing
// of markers or of who looks.
package sched

import (
	"iter"

	"github.com/waymark-trace/waymark/tracepoint"
)

// Where to look at the scheduler. They are exported for packages that know its types; see
// schedprobe for one that turns these into what everybody understands.
var (
	// Switch: prev gives way to next. Where there is nothing to do, one of them is the idle task.
	Switch = tracepoint.New2[*Task, *Task]("sched:switch")
	// Wakeup: a task that slept can run again.
	Wakeup = tracepoint.New1[*Task]("sched:wakeup")
)

// State is what a task does.
type State int64

// The states of a task.
const (
	Runnable State = 0
	Sleeping State = 1
	Dead     State = 16
)

// Task is something to do. Only probes, and the body of the task itself, look at it while the scheduler runs.
type Task struct {
	PID   int // from 1; the idle task has 0
	Name  string
	State State

	step func() (sleep int, more bool)
	wake int // the tick at which it wakes up
}

// Scheduler holds tasks until Run has run them to their end. The zero value has none.
type Scheduler struct {
	idle     Task
	last     int // the greatest PID
	runnable []*Task
	sleeping []*Task
	tick     int
}

// Go adds a task. Its body yields to give way to the others: 0 to go on at its next turn, n to
// sleep through n ticks of the scheduler. All bodies run on the goroutine that calls Run.
func (s *Scheduler) Go(name string, body iter.Seq[int]) *Task {
	s.last++
	step, _ := iter.Pull(body) // every body is run to its end, which needs no stop
	t := &Task{PID: s.last, Name: name, step: step}
	s.runnable = append(s.runnable, t)
	return t
}

// Run runs the tasks until all are done.
func (s *Scheduler) Run() {
	s.idle.Name = "idle"
	current := &s.idle
	for len(s.runnable)+len(s.sleeping) > 0 {
		s.tick++
		s.wakeUp()
		next := &s.idle
		if len(s.runnable) > 0 {
			next, s.runnable = s.runnable[0], s.runnable[1:]
		}
		s.switchTo(current, next)
		if current = next; current != &s.idle {
			s.run(current)
		}
	}
	s.switchTo(current, &s.idle)
}

func (s *Scheduler) switchTo(prev, next *Task) {
	if prev != next {
		Switch.Trace(prev, next)
	}
}

// run runs a task until it yields or ends.
func (s *Scheduler) run(t *Task) {
	switch sleep, more := t.step(); {
	case !more:
		t.State = Dead
	case sleep > 0:
		t.State, t.wake = Sleeping, s.tick+1+sleep
		s.sleeping = append(s.sleeping, t)
	default:
		s.runnable = append(s.runnable, t)
	}
}

// wakeUp makes the tasks runnable that have slept enough.
func (s *Scheduler) wakeUp() {
	var asleep []*Task
	for _, t := range s.sleeping {
		if t.wake > s.tick {
			asleep = append(asleep, t)
			continue
		}
		t.State = Runnable
		s.runnable = append(s.runnable, t)
		Wakeup.Trace(t)
	}
	s.sleeping = asleep
}
