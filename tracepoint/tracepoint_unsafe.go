package tracepoint

import (
	"errors"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

//go:generate go run ../internal/cmd/genarity -o zarity_unsafe.go tracepoint

// Tracepoint is the part that tracepoints of every arity have in common. It is embedded in
// [Tracepoint0] … [Tracepoint8] and never used alone.
type Tracepoint struct {
	_ noCopy

	// armed is the word that every site tests: in its high half the number of probes, and whether passes are
	// recorded. A plain uint32, not an atomic.Uint32, keeps Trace within the inliner's budget, and so does its place: the first
	// member's address is the tracepoint's.
	armed uint32

	version uint16
	arity   uint8
	magic   [2]uint64

	name string

	// state is nil until the tracepoint is used; then it is a *state for good.
	state unsafe.Pointer

	fields []string // names of the arguments; none if the declaration has none
}

// noCopy makes go vet object to copies: a copy of a tracepoint is not the tracepoint.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

const (
	magic0  = markerabi.TracepointMagic0
	magic1  = markerabi.TracepointMagic1
	version = markerabi.Version
)

// Enabled reports whether any probe is registered, or hits are recorded. Use it to skip computing
// expensive arguments.
func (m *Tracepoint) Enabled() bool { return atomic.LoadUint32(&m.armed) != 0 }

// Name returns the tracepoint's name as declared, provider:name.
func (m *Tracepoint) Name() string { return m.name }

func (m *Tracepoint) quoted() string { return "tracepoint " + strconv.Quote(m.name) }

func (m *Tracepoint) register(s *state, fn unsafe.Pointer) (*Probe, error) {
	if fn == nil {
		return nil, errors.New("registering a probe of " + m.quoted() + ": the function is nil")
	}
	if err := s.declared.Load().err; err != nil {
		return nil, point.Wrap("registering a probe", err)
	}
	p := &Probe{point.Probe{Point: m.quoted(), Func: point.Func(fn), Arms: &m.armed}}
	if err := s.Connect(&p.p); err != nil {
		return nil, point.Wrap("registering a probe of "+m.quoted(), err)
	}
	return p, nil
}

// Probe is a function connected to a tracepoint.
type Probe struct{ p point.Probe }

// Unregister disconnects the probe. After it returns the probe is not running and will not
// run again, also when it was disconnected before, by a panic or by another Unregister.
//
// It waits for calls in progress, so a probe must not wait for something that waits for
// Unregister. Inside a probe, of this tracepoint or of any other point, it cannot wait: no
// new call begins, and a further Unregister, outside of probes, waits for those in progress.
func (p *Probe) Unregister() {
	p.p.Disconnect()
	p.p.Wait()
}
