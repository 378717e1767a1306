package marker

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"
)

// Probe is a function connected to a marker.
type Probe struct {
	marker *Marker
	state  *state
	fn     unsafe.Pointer // a func of the marker's argument types
	dead   atomic.Bool
}

// Unregister disconnects the probe. After it returns the probe is not running and will not
// run again. Further calls do nothing.
//
// It waits for calls in progress, so a probe must not wait for something that waits for
// Unregister. A probe may unregister itself, or another: then Unregister does not wait,
// and the promise holds from when the outermost probe on this goroutine has returned.
func (p *Probe) Unregister() {
	if !p.disconnect() || insideProbe() {
		return
	}
	p.state.wait()
}

// disconnect takes the probe off the list, and reports whether it was on it.
func (p *Probe) disconnect() bool {
	p.dead.Store(true)
	s := p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(s.connected())
	i := slices.Index(list, p)
	if i < 0 {
		return false
	}
	s.publish(slices.Delete(list, i, i+1))
	return true
}

// recoverPanic disconnects a probe that panicked: the traced program must not suffer for it.
func (p *Probe) recoverPanic() {
	if v := recover(); v != nil {
		p.disconnect()
		reportProblem(fmt.Errorf("marker %q: probe panicked and was disconnected: %v", p.marker.name, v))
	}
}

// ErrNotArmed is returned by Disarm for a marker that is not armed.
var ErrNotArmed = errors.New("marker is not armed")

// Arm makes the marker call its probes. Calls nest: three calls need three of Disarm.
func (m *Marker) Arm() error {
	s := (*state)(atomic.LoadPointer(&m.state))
	if s == nil {
		return fmt.Errorf("arming marker %q: no probe was ever registered", m.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.setArms(s, s.arms+1)
	return nil
}

// Disarm undoes one Arm. Probes that are running finish.
func (m *Marker) Disarm() error {
	if s := (*state)(atomic.LoadPointer(&m.state)); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.arms > 0 {
			m.setArms(s, s.arms-1)
			return nil
		}
	}
	return fmt.Errorf("disarming marker %q: %w", m.name, ErrNotArmed)
}
