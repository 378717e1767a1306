package recorder

import (
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/point"
)

// recording is one point in one session. Those of a point are a list, of which the point's state has the first: the
// list changes under links, and a member never but for its plan.
type recording struct {
	session *Session
	marker  point.Recordable
	plan    atomic.Pointer[plan] // nil until the point's arguments are known
}

// list is the recordings of one point. It never changes.
type list struct {
	layout // of the only recording if it is a usual one; without writers otherwise
	all    []*recording
}

func load(s *point.State) *list { return (*list)(s.Recordings.Load()) }

// recordings returns those of a marker.
func recordings(s *point.State) []*recording {
	if l := load(s); l != nil {
		return l.all
	}
	return nil
}

// store makes them the marker's; links is held.
func store(s *point.State, all []*recording) {
	if len(all) == 0 {
		s.Recordings.Store(nil)
		return
	}
	l := &list{all: all}
	if pl := all[0].plan.Load(); len(all) == 1 && pl != nil && pl.isUsual() {
		l.layout = pl.layout
	}
	s.Recordings.Store(unsafe.Pointer(l))
}

// relist takes notice of a plan that is new.
func relist(s *point.State) {
	links.Lock()
	defer links.Unlock()
	store(s, recordings(s))
}

func (pl *plan) isUsual() bool {
	return !pl.refused && !pl.counts && pl.texts == nil && pl.pieces == nil && pl.goid != 0
}
