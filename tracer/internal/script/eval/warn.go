package eval

import (
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
)

// Reason is what a program did that is counted rather than reported at once.
type Reason uint8

// The reasons.
const (
	DivisionByZero Reason = iota
	NoKey                 // delete of a key that was not there
	Unreadable            // a field without a value in an event
	LoopLimit             // a hit had too many iterations
	Dropped               // %d and the like of a number of more than 32 bits
	ThreadKey             // a thread's number as a key in events of goroutines
	HeldFull              // output that speculate had no room for
	MapFull               // an update of a full map; Map is its name
	numReasons
)

// Warning is a counted reason.
type Warning struct {
	Reason Reason
	At     int    // the offset in the script, 0 if it is unknown
	Map    string // of MapFull
	Limit  int    // of MapFull
	Count  uint64
}

// Warnings counts reasons by place.
type Warnings struct{ counts [numReasons]map[int]uint64 }

func (w *Warnings) add(r Reason, at int) {
	if w.counts[r] == nil {
		w.counts[r] = map[int]uint64{}
	}
	w.counts[r][at]++
}

// list returns all counts in the order of their places.
func (w *Warnings) list(maps []*machine.Map) []Warning {
	var all []Warning
	for r, places := range w.counts {
		for at, n := range places {
			all = append(all, Warning{Reason: Reason(r), At: at, Count: n})
		}
	}
	slices.SortFunc(all, func(a, b Warning) int {
		if a.At != b.At {
			return a.At - b.At
		}
		return int(a.Reason) - int(b.Reason)
	})
	for _, m := range maps {
		if m.Lost > 0 {
			all = append(all, Warning{Reason: MapFull, Map: m.Name, Limit: m.MaxKeys, Count: m.Lost})
		}
	}
	return all
}
