package point

import (
	"sync/atomic"

	"github.com/waymark-trace/waymark/internal/inproc/patch"
)

// A point's armed word: its low half is the kernel's reference counter, its highest bit is set while
// hits are recorded, and the bits between count arming in the process, as far as there is room.
const (
	OneArm     = 1 << 16
	KernelHalf = OneArm - 1
	Recorded   = 1 << 31
	Arms       = Recorded - OneArm // the bits of the count
	maxArms    = Arms / OneArm
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

// setArms changes the in-process count of an armed word; s.mu is held. The kernel may store
// into the low half meanwhile: a 2-byte store of its own, so an addition that adds nothing
// to that half loses none of them.
//
// Sites of an optimized program are patched afterwards. If they cannot be made live, the word
// is restored; if they cannot be made dead, they stay live and find the word zero.
func (s *State) setArms(word *uint32, n int) error {
	s.settle()
	was, is := min(s.arms, maxArms), min(n, maxArms)
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
