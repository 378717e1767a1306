package clock

import (
	"fmt"
	"sync"
	"time"
)

// Kind is the source of ticks.
type Kind uint32

// The kinds. They are written into files: a kind keeps its number.
const (
	Monotonic Kind = 1 + iota // nanoseconds of the runtime's monotonic clock
	TSC                       // x86-64's time stamp counter
	CNTVCT                    // arm64's virtual counter
)

func (k Kind) String() string {
	switch k {
	case Monotonic:
		return "monotonic"
	case TSC:
		return "tsc"
	case CNTVCT:
		return "cntvct"
	}
	return fmt.Sprintf("Kind(%d)", uint32(k))
}

// Best returns the clock to stamp with on this machine.
var Best = sync.OnceValue(func() Kind {
	if counter != 0 && trusted() {
		return counter
	}
	return Monotonic
})

// Now reads a clock; ok is false for one that this machine does not have, or must not trust.
func Now(k Kind) (ticks uint64, ok bool) {
	switch {
	case k == Monotonic:
		return uint64(nanotime()), true
	case k == counter && Best() == counter:
		return count(), true
	}
	return 0, false
}

// Pair has the readings of the clocks at one moment.
type Pair struct {
	Ticks     uint64
	Monotonic int64 // nanoseconds of CLOCK_MONOTONIC, or of the platform's equivalent
	Wall      int64 // nanoseconds since 1970
}

// Read reads the clocks at one moment, as nearly as some attempts allow; ok is as of Now.
func Read(k Kind) (p Pair, ok bool) {
	const attempts = 8
	best := int64(-1)
	for range attempts {
		before := nanotime()
		ticks, ok := Now(k)
		if !ok {
			return Pair{}, false
		}
		wall := time.Now().UnixNano()
		after := nanotime()
		if took := after - before; best < 0 || took < best {
			best = took
			p = Pair{ticks, before + took/3, wall} // ticks are read before the wall clock is
		}
	}
	if k == Monotonic {
		p.Monotonic = int64(p.Ticks)
	}
	return p, true
}
