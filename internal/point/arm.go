package point

import (
	"math"
	"sync/atomic"

	"github.com/waymark-trace/waymark/internal/patch"
)

// OneArm is what arming in-process adds to a point's armed word. The low half is the
// kernel's reference counter.
const (
	OneArm     = 1 << 16
	KernelHalf = OneArm - 1
)

// Arm makes the point's sites live, once more. After an error they are as they were.
func (s *State) Arm(word *uint32) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.setArms(word, s.arms+1)
}

// Disarm undoes one Arm, and reports false when there is none to undo.
func (s *State) Disarm(word *uint32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arms == 0 {
		return false
	}
	_ = s.setArms(word, s.arms-1) // which reports errors of arming only
	return true
}

// setArms changes the in-process half of an armed word; s.mu is held. The kernel may store
// into the other half meanwhile: a 2-byte store of its own, so an addition that adds nothing
// to that half loses none of them.
//
// Sites of an optimized program are patched behind it. If they cannot be made live, the word
// is put back; if they cannot be made dead they are left to find the word zero.
func (s *State) setArms(word *uint32, n int) error {
	s.settle()
	was, is := min(s.arms, math.MaxUint16), min(n, math.MaxUint16)
	atomic.AddUint32(word, uint32(is-was)*OneArm)
	if err := patch.Set(word); err != nil {
		if is > was {
			atomic.AddUint32(word, uint32(was-is)*OneArm)
			return err
		}
	}
	s.arms = n
	return nil
}
