package slogsink

import (
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// source returns the program counter of the call of Mark, as slog wants it, 0 when it is not
// found. The number of frames in between depends on how the marker is called: usually a few, so a
// short traceback is tried first, but any number after a probe that panicked.
func source() uintptr {
	const toFire = 4 // runtime.Callers, source, mark, and one of the marker's
	var few [3]uintptr
	if pc := site(few[:runtime.Callers(toFire, few[:])]); pc != 0 {
		return pc
	}
	var many [48]uintptr
	return site(many[:runtime.Callers(toFire, many[:])])
}

// site returns the first frame after the marker's fire that is not the marker's own.
func site(pcs []uintptr) uintptr {
	fired := false
	for _, pc := range pcs {
		switch kind := kindOf(pc); {
		case kind == fire:
			fired = true
		case kind == other && fired:
			return pc
		}
	}
	return 0
}

// kind is the owner of a frame.
type kind uint8

const (
	other  kind = iota // the program's
	within             // the marker's, or the runtime's, which runs deferred calls
	fire               // the marker's slow path, which every Mark calls
)

// known is the kind of the frames seen so far: looking up the symbol of each would take longer than all
// the rest. They are as many as the program has sites, and a few.
var known struct {
	sync.Mutex
	at atomic.Pointer[map[uintptr]kind] // never written, but replaced
}

func kindOf(pc uintptr) kind {
	if at := known.at.Load(); at != nil {
		if k, ok := (*at)[pc]; ok {
			return k
		}
	}
	k := other
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	if method, ok := strings.CutPrefix(frame.Function, "github.com/waymark-trace/waymark/marker."); ok {
		k = within
		if strings.HasSuffix(method, ").fire") {
			k = fire
		}
	} else if strings.HasPrefix(frame.Function, "runtime.") {
		k = within
	}

	known.Lock()
	defer known.Unlock()
	next := map[uintptr]kind{pc: k}
	if at := known.at.Load(); at != nil {
		maps.Copy(next, *at)
	}
	known.at.Store(&next)
	return k
}
