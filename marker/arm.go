package marker

import (
	"errors"

	"github.com/waymark-trace/waymark/internal/inproc/patch"
	"github.com/waymark-trace/waymark/internal/inproc/point"
)

var (
	// ErrNotArmed is returned by Disarm for a marker that is not armed.
	ErrNotArmed = errors.New("marker is not armed")
	// ErrNotPatched is wrapped by errors of Arm in a program that was linked with --optimize and
	// may not write its own code. Nothing is armed then.
	ErrNotPatched = patch.ErrNotPatched
)

// Arm makes the marker call its probes, those among them that waited for its name. Calls nest: three
// calls need three of Disarm.
func (m *Marker) Arm() error {
	if m.magic != [2]uint64{magic0, magic1} {
		return point.Wrap("arming", point.NotMade("marker", nil))
	}
	known.add(m) // one that is made in a function is in no data that is searched
	s := m.stateOf()
	s.arming.Lock()
	defer s.arming.Unlock()
	if err := s.Arm(&m.armed); err != nil {
		return point.Wrap("arming "+m.quoted(), err)
	}
	s.arms++
	return nil
}

// Disarm undoes one Arm of this marker, not one by its name. Probes that are running finish.
func (m *Marker) Disarm() error {
	if s := m.loaded(); s != nil {
		s.arming.Lock()
		defer s.arming.Unlock()
		if s.arms > 0 {
			s.arms--
			s.Disarm(&m.armed)
			return nil
		}
	}
	return point.Wrap("disarming "+m.quoted(), ErrNotArmed)
}
