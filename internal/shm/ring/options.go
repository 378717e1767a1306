package ring

import (
	"errors"
	"fmt"
	"math/bits"
	"os"
	"runtime"

	"github.com/waymark-trace/waymark/internal/clock"
)

// ErrSize says that rings would be too small to record into.
var ErrSize = errors.New("less than the least")

// Info is what a file says of the program that writes it.
type Info struct {
	Session    string `json:"session"`
	PID        int    `json:"pid"`
	Start      uint64 `json:"start,omitempty"` // of the process, in clock ticks since boot; 0: not known
	Executable string `json:"executable,omitempty"`
	Module     string `json:"module,omitempty"` // of the program's main package
	BootID     string `json:"boot_id,omitempty"`
	Go         string `json:"go,omitempty"`
	// Goroutines reports whether events have the number of their goroutine.
	Goroutines bool `json:"goroutines,omitempty"`

	Mode       Mode       `json:"-"`
	Clock      clock.Kind `json:"-"`
	Rings      int        `json:"-"`
	RingSize   uint64     `json:"-"` // bytes of data of a ring
	SubBuffers int        `json:"-"` // of a ring
	WordSize   int        `json:"-"` // of the program, in bytes
}

// Options say what to create.
type Options struct {
	Info Info // its Mode and Clock count, what follows them does not
	// Rings is how many there are, 0 for as many as the scheduler has processors or could have at
	// GOMAXPROCS's default.
	Rings int
	// Size is the bytes of all rings together, rounded so that each has a power of two; 0 for
	// DefaultSize.
	Size uint64
	// SubBuffers is how many parts a ring has, a power of two; 0 for as many as suit its size.
	SubBuffers int
	// Sealed puts the rings into memory without a name that other processes may map for writing and
	// cannot cut short. It exists as long as a process has it. Linux only; the path must be "".
	Sealed bool
	// Table is the bytes for descriptions of events, 0 for DefaultTable.
	Table uint64
}

// Defaults of Options.
const (
	DefaultSize  = 16 << 20
	DefaultTable = 256 << 10

	usualSubs = 8
	usualSub  = 16 << 10 // smaller ones have fewer
)

func (o *Options) geometry() (geometry, error) {
	g := geometry{page: uint64(max(os.Getpagesize(), 4096)), rings: uint64(o.Rings), table: o.Table, mode: o.Info.Mode}
	if o.Rings == 0 {
		g.rings = uint64(max(runtime.NumCPU(), runtime.GOMAXPROCS(0)))
	}
	if o.Rings < 0 || g.rings > maxRings {
		return g, fmt.Errorf("%d rings, not 1 to %d", o.Rings, maxRings)
	}
	if g.table == 0 {
		g.table = DefaultTable
	}
	size := o.Size
	if size == 0 {
		size = DefaultSize
	}
	each := size / g.rings
	if each < 2*minSub {
		return g, fmt.Errorf("%d bytes for %d rings: %w of %d for each", size, g.rings, ErrSize, 2*minSub)
	}
	each = 1 << (bits.Len64(each) - 1)
	g.subs = uint64(o.SubBuffers)
	if o.SubBuffers == 0 {
		for g.subs = usualSubs; g.subs > 2 && each/g.subs < usualSub; g.subs /= 2 {
		}
	}
	if g.subs == 0 || each < g.subs {
		return g, fmt.Errorf("%d sub-buffers of a ring of %d bytes", o.SubBuffers, each)
	}
	g.sub = each / g.subs
	return g, g.check()
}
