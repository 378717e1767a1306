package recorder

import (
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/point"
)

// recording is one marker in one session. Those of a marker are a list, of which the marker's state has the first: the
// list changes under links, and a member never but for its plan.
type recording struct {
	session *Session
	marker  point.Recordable
	plan    atomic.Pointer[plan] // nil until the marker's arguments are known
}

// list is the recordings of one marker. It never changes.
type list struct {
	first *recording
	more  []*recording
}

func load(s *point.State) *list { return (*list)(s.Recordings.Load()) }

func (l *list) each(fn func(*recording)) {
	if l == nil {
		return
	}
	fn(l.first)
	for _, r := range l.more {
		fn(r)
	}
}

func store(s *point.State, all []*recording) {
	if len(all) == 0 {
		s.Recordings.Store(nil)
		return
	}
	s.Recordings.Store(unsafe.Pointer(&list{all[0], all[1:]}))
}
