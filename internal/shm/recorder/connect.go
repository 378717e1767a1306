package recorder

import (
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// links is held while the lists of markers change.
var links sync.Mutex

// connect records the marker, if it is one of those that the session chose.
func (s *Session) connect(m point.Recordable) error {
	if chosen, err := s.o.chooses(&m); !chosen || err != nil {
		return err
	}
	r := &recording{session: s, marker: m}
	s.mu.Lock()
	if s.recordings == nil || s.recordings[m.State] != nil { // ended, or found twice
		s.mu.Unlock()
		return nil
	}
	s.recordings[m.State] = r
	s.mu.Unlock()

	switch known, err := declared(&m); {
	case err != nil: // the point's own fault: its passes are lost, and others are recorded
		if err := r.describe(); err != nil {
			s.problem(err)
		}
	case known != nil:
		if err := r.describe(); err != nil {
			return err
		}
	default:
		if err := s.couldBind(&m); err != nil {
			return err
		}
	}
	links.Lock()
	defer links.Unlock()
	select {
	case <-s.stopped: // disconnect has passed, or will and find it
		return nil
	default:
	}
	all := recordings(m.State)
	store(m.State, append(slices.Clip(all), r))
	if err := m.State.SetRecorded(m.Armed, true); err != nil {
		store(m.State, all)
		return point.Wrap(recordingOf(&m), err)
	}
	return nil
}

// declared returns the point's declaration, nil while its types are not known, and what is known to be wrong with it.
func declared(m *point.Recordable) (*point.Declaration, error) {
	d, err := m.Declared()
	if d == nil && err == nil {
		_, err = m.Names()
	}
	return d, err
}

// disconnect takes the session off its markers, and returns how many they were. Passes in progress go on.
func (s *Session) disconnect() int {
	s.mu.Lock()
	ended := s.recordings
	s.recordings = nil
	s.mu.Unlock()
	links.Lock()
	defer links.Unlock()
	for state, own := range ended {
		rest := slices.Clone(recordings(state))
		rest = slices.DeleteFunc(rest, func(r *recording) bool { return r == own })
		store(state, rest)
		if len(rest) == 0 {
			_ = state.SetRecorded(own.marker.Armed, false) // which reports errors of setting only
		}
	}
	return len(ended)
}
