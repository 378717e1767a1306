package marker

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// Probe is a function connected to a marker, or waiting for one that is not there yet.
type Probe struct {
	mu        sync.Mutex
	connected []*point.Probe

	byName *byName // the arguments of Register, nil for a probe registered by type
}

// Unregister disconnects the probe. After it returns the probe is not running and will not
// run again, also when it was disconnected before, by a panic or by another Unregister.
//
// It waits for calls in progress, so a probe must not wait for something that waits for
// Unregister. Inside a probe, of this marker or of any other, it cannot wait: no new call
// begins, and a further Unregister, outside of probes, waits for those in progress.
//
// It does not disarm.
func (p *Probe) Unregister() {
	for _, c := range p.disconnect() {
		c.Wait()
	}
}

// disconnect takes the probe off every marker, and off its name.
func (p *Probe) disconnect() []*point.Probe {
	if p.byName != nil {
		known.forget(p)
	}
	p.mu.Lock()
	connected := p.connected
	p.mu.Unlock()
	for _, c := range connected {
		c.Disconnect()
	}
	return connected
}

// Pending reports whether the probe is connected to no marker, because none of its name was found yet.
func (p *Probe) Pending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.connected) == 0
}

func (p *Probe) connect(s *state, c *point.Probe) {
	p.mu.Lock()
	p.connected = append(p.connected, c)
	p.mu.Unlock()
	_ = s.Connect(c) // which has no error where connecting does not arm
}

// register connects a function of the marker's own argument types.
func (m *Marker) register(s *state, fn unsafe.Pointer) (*Probe, error) {
	if fn == nil {
		return nil, errors.New("registering a probe of " + m.quoted() + ": the function is nil")
	}
	if err := s.declared.Load().err; err != nil {
		return nil, point.Wrap("registering a probe", err)
	}
	p := &Probe{}
	p.connect(s, &point.Probe{Point: m.quoted(), Func: point.Func(fn)})
	return p, nil
}
