package marker

import (
	"errors"

	"github.com/waymark-trace/waymark/internal/field"
)

// ErrNotArmed is returned by Disarm for a marker that is not armed.
var ErrNotArmed = errors.New("marker is not armed")

// Arm makes the marker call its probes. Calls nest: three calls need three of Disarm.
func (m *Marker) Arm() error {
	if m.magic != [2]uint64{magic0, magic1} {
		return errors.New("arming a marker that no function of package marker made")
	}
	m.stateOf().Arm(&m.armed)
	return nil
}

// Disarm undoes one Arm. Probes that are running finish.
func (m *Marker) Disarm() error {
	if s := m.loaded(); s != nil && s.Disarm(&m.armed) {
		return nil
	}
	return field.Wrap("disarming "+m.quoted(), ErrNotArmed)
}
