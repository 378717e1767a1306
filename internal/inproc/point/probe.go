package point

import (
	"sync/atomic"

	"github.com/waymark-trace/waymark/internal/inproc/problem"
)

// Probe is a function connected to a point.
type Probe struct {
	// Point names the probe's point in messages: `marker "http:start"`.
	Point string
	// Func is a function of the point's own argument types. On a probe that takes the arguments
	// of any point, Event is set and Func is the function that it calls.
	Func  Func
	Event Event

	// Arms is the armed word of a point that is armed as long as the probe is connected; nil
	// where arming is apart from connecting.
	Arms *uint32

	// Gone is called when the probe was disconnected because it panicked; nil for nothing.
	Gone func()

	state *State
	dead  atomic.Bool
}

// Dead reports whether the probe was disconnected after the caller loaded the list.
func (p *Probe) Dead() bool { return p.dead.Load() }

// FuncName returns the name of the probe's function.
func (p *Probe) FuncName() string { return FuncName(Entry(p.Func)) }

// Disconnect takes the probe off its point's list and reports whether it was on it. Calls in
// progress go on: see Wait.
func (p *Probe) Disconnect() bool {
	p.dead.Store(true)
	return p.state.disconnect(p)
}

// Wait returns when the probe, which was disconnected, is not running any more. Inside a
// probe, of any point, it returns at once: it would wait for itself.
func (p *Probe) Wait() {
	if !InsideProbe() {
		p.state.wait()
	}
}

// Panicked disconnects a probe that panicked with v and reports it, once.
func (p *Probe) Panicked(v any) {
	p.state.panics.Add(1)
	if p.Disconnect() {
		if p.Gone != nil {
			p.Gone()
		}
		problem.Report(&problem.PanicError{Point: p.Point, Probe: p.FuncName(), Value: v, Stack: problem.Stack()})
	}
}
