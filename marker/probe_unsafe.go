package marker

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/field"
)

// Probe is a function connected to a marker.
type Probe struct {
	marker *Marker
	state  *state
	fn     unsafe.Pointer // a func of the marker's argument types
	dead   atomic.Bool
}

// Unregister disconnects the probe. After it returns the probe is not running and will not
// run again, also when it was disconnected before, by a panic or by another Unregister.
//
// It waits for calls in progress, so a probe must not wait for something that waits for
// Unregister. Inside a probe, of this marker or of any other, it cannot wait: no new call
// begins, and a further Unregister, outside of probes, waits for those in progress.
func (p *Probe) Unregister() {
	p.disconnect()
	if !insideProbe() {
		p.state.wait()
	}
}

// disconnect takes the probe off the list, if it is on it.
func (p *Probe) disconnect() {
	p.dead.Store(true)
	s := p.state
	s.mu.Lock()
	defer s.mu.Unlock()
	if list := s.connected(); slices.Contains(list, p) {
		s.publish(slices.DeleteFunc(slices.Clone(list), func(q *Probe) bool { return q == p }))
	}
}

// recoverPanic disconnects a probe that panicked: the traced program must not suffer for it.
func (p *Probe) recoverPanic() {
	if v := recover(); v != nil {
		p.disconnect()
		reportProblem(errors.New("marker " + strconv.Quote(p.marker.name) + ": probe panicked and was disconnected: " + panicText(v)))
	}
}

// panicText says what a probe panicked with.
func panicText(v any) string {
	switch v := v.(type) {
	case error:
		return v.Error()
	case string:
		return v
	}
	return "a value of type " + reflect.TypeOf(v).String()
}

// ErrNotArmed is returned by Disarm for a marker that is not armed.
var ErrNotArmed = errors.New("marker is not armed")

// Arm makes the marker call its probes. Calls nest: three calls need three of Disarm.
func (m *Marker) Arm() error {
	s := (*state)(atomic.LoadPointer(&m.state))
	if s == nil {
		return errors.New("arming marker " + strconv.Quote(m.name) + ": no probe was ever registered")
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
	return field.Wrap("disarming marker "+strconv.Quote(m.name), ErrNotArmed)
}
