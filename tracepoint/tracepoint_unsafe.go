package tracepoint

import (
	"errors"
	"reflect"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/point"
)

//go:generate go run ../internal/cmd/genarity -o zarity_unsafe.go tracepoint

// Tracepoint is what tracepoints of every arity have in common. It is part of a
// [Tracepoint0] … [Tracepoint8] and never used alone.
type Tracepoint struct {
	_ noCopy

	// armed is the word that every site tests: in its high half the number of probes. A plain
	// uint32, not an atomic.Uint32, keeps Trace within the inliner's budget, and so does its place: the first
	// member's address is the tracepoint's.
	armed uint32

	version uint16
	arity   uint8
	magic   [2]uint64

	name string

	// state is nil until the first Register; then a *state for good.
	state unsafe.Pointer
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

// state is what a tracepoint needs once a probe was registered.
type state struct {
	point.State
	args []string // types of the arguments
	err  error    // what is wrong with the declaration
}

// Enabled reports whether any probe is registered. Guard with it what is too dear to
// compute for nobody.
func (m *Tracepoint) Enabled() bool { return atomic.LoadUint32(&m.armed) != 0 }

// Name returns the tracepoint's name as declared, provider:name.
func (m *Tracepoint) Name() string { return m.name }

func (m *Tracepoint) quoted() string { return "tracepoint " + strconv.Quote(m.name) }

func (m *Tracepoint) loaded() *state { return (*state)(atomic.LoadPointer(&m.state)) }

// learn returns the tracepoint's state, making it at first use. fn is a nil func of its
// argument types.
func (m *Tracepoint) learn(fn any) *state {
	if s := m.loaded(); s != nil {
		return s
	}
	t := reflect.TypeOf(fn)
	s := &state{}
	for i := range t.NumIn() {
		s.args = append(s.args, t.In(i).String())
	}
	if m.magic != [2]uint64{magic0, magic1} {
		s.err = point.NotMade("tracepoint", t)
	} else if _, _, err := field.ParseName(m.name); err != nil {
		s.err = field.Wrap(m.quoted(), err)
	}
	if atomic.CompareAndSwapPointer(&m.state, nil, unsafe.Pointer(s)) {
		used.Add(m)
	}
	return m.loaded()
}

func (m *Tracepoint) register(s *state, fn unsafe.Pointer) (*Probe, error) {
	if fn == nil {
		return nil, errors.New("registering a probe of " + m.quoted() + ": the function is nil")
	}
	if s.err != nil {
		return nil, field.Wrap("registering a probe", s.err)
	}
	p := &Probe{point.Probe{Point: m.quoted(), Func: point.Func(fn), Arms: &m.armed}}
	if err := s.Connect(&p.p); err != nil {
		return nil, field.Wrap("registering a probe of "+m.quoted(), err)
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
