package marker

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/field"
)

// state is what a marker needs once it is used. It is never freed, so a site may hold it
// for as long as it likes.
type state struct {
	grace
	mu     sync.Mutex
	arms   int
	err    error // what is wrong with the marker's declaration
	probes atomic.Pointer[[]*Probe]
}

func newState(m *Marker, fn any) *state {
	return &state{err: checkDeclaration(m, fn)}
}

// checkDeclaration compares the marker's format with the types of its arguments.
func checkDeclaration(m *Marker, fn any) error {
	if m.magic != [2]uint64{magic0, magic1} {
		return errors.New("marker was not made by marker.New" + strconv.Itoa(reflect.TypeOf(fn).NumIn()))
	}
	if _, _, err := field.ParseName(m.name); err != nil {
		return field.Wrap("marker "+strconv.Quote(m.name), err)
	}
	t := reflect.TypeOf(fn)
	args := make([]field.Kind, t.NumIn())
	for i := range args {
		args[i] = field.KindOf(t.In(i))
	}
	if _, err := field.Check(m.format, args); err != nil {
		return field.Wrap("marker "+strconv.Quote(m.name), err)
	}
	return nil
}

// connected returns the probes to call, in the order they were registered.
func (s *state) connected() []*Probe {
	if list := s.probes.Load(); list != nil {
		return *list
	}
	return nil
}

// publish replaces the list of probes; s.mu is held.
func (s *state) publish(list []*Probe) { s.probes.Store(&list) }

func (s *state) register(m *Marker, fn unsafe.Pointer) (*Probe, error) {
	if fn == nil {
		return nil, errors.New("registering a probe of marker " + strconv.Quote(m.name) + ": the function is nil")
	}
	if s.err != nil {
		return nil, field.Wrap("registering a probe", s.err)
	}
	p := &Probe{marker: m, state: s, fn: fn}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.publish(append(slices.Clone(s.connected()), p))
	return p, nil
}

// setArms changes the in-process half of the armed word; s.mu is held. The kernel may store
// into the other half meanwhile: a 2-byte store of its own, so an addition that adds nothing
// to that half loses none of them.
func (m *Marker) setArms(s *state, n int) {
	was, is := min(s.arms, math.MaxUint16), min(n, math.MaxUint16)
	s.arms = n
	atomic.AddUint32(&m.armed, uint32(is-was)*oneArm)
}
