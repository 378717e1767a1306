// Package format has formats that do not fit.
package format

import (
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/marker"
)

type (
	status int
	state  int
	blob   []byte
	delay  time.Duration
)

func (state) String() string { return "state" }

const words = "path %s " + "attempt %d"

var (
	fine     = marker.New2[string, int]("format:fine", words)
	none     = marker.New0("format:none", "")
	all      = marker.New8[status, blob, bool, float32, uintptr, unsafe.Pointer, rune, []byte]("format:all", "a %d b %x c %t d %g e %x f %p g %c h %s")
	texts    = marker.New3[marker.Text[state], marker.Text[state], time.Duration]("format:texts", "from %s to %v in %s")
	asNumber = marker.New1[marker.Text[state]]("format:as_number", "state %d") // want `%d cannot print field state, which is string; try %s`
	took     = marker.New3[time.Duration, time.Duration, delay]("format:took", "took %s limit %d delay %d")
	delayed  = marker.New1[delay]("format:delayed", "delay %s")           // want `%s cannot print field delay, which is int64; try %d`
	quoted   = marker.New1[time.Duration]("format:quoted", "took %q")     // want `%q cannot print field took, which is time.Duration; try %s`
	few      = marker.New2[int, int]("format:few", "n %d")                // want `marker "format:few": format "n %d" has 1 verbs for 2 arguments`
	many     = marker.New0("format:many", "n %d")                         // want `has 1 verbs for 0 arguments`
	verb     = marker.New1[status]("format:verb", "n %s")                 // want `%s cannot print field n, which is int; try %d`
	unsigned = marker.New1[int64]("format:unsigned", `n %u`)              // want `try %d`
	twice    = marker.New2[int, int]("format:twice", "n %d n %d")         // want `names two fields n`
	unknown  = marker.New1[int]("format:unknown", "n %y")                 // want `is not one of`
	cut      = marker.New1[int]("format:cut", "n %")                      // want `no conversion`
	nul      = marker.New1[int]("format:nul", "n\x00 %d")                 // want `has a NUL at byte 1`
	pointer  = marker.New1[unsafe.Pointer]("format:pointer", "at %d"+"!") // want `try %p`
)

// A marker that is declared for another release of the format.
//
//waymark:ignore the format is checked by a test
var accepted = marker.New1[int]("format:accepted", "n %s")

//waymark:ignore
var unexplained = marker.New1[int]("format:unexplained", "n %s") // want `try %d \(//waymark:ignore is to be followed by the reason\)`
