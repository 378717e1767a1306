package point

import (
	"math"
	"sync/atomic"
)

// OneArm is what arming in-process adds to a point's armed word. The low half is the
// kernel's reference counter.
const (
	OneArm     = 1 << 16
	KernelHalf = OneArm - 1
)

// Arm makes the point's sites live, once more.
func (s *State) Arm(word *uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setArms(word, s.arms+1)
}

// Disarm undoes one Arm, and reports false when there is none to undo.
func (s *State) Disarm(word *uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arms == 0 {
		return false
	}
	s.setArms(word, s.arms-1)
	return true
}

// setArms changes the in-process half of an armed word; s.mu is held. The kernel may store
// into the other half meanwhile: a 2-byte store of its own, so an addition that adds nothing
// to that half loses none of them.
func (s *State) setArms(word *uint32, n int) {
	was, is := min(s.arms, math.MaxUint16), min(n, math.MaxUint16)
	s.arms = n
	atomic.AddUint32(word, uint32(is-was)*OneArm)
}
