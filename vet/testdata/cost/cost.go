// Package cost has arguments that cost something while the marker is not armed.
package cost

import (
	"fmt"
	"math"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/waymark-trace/waymark/marker"
)

type label string

func (l label) String() string { return string(l) + "!" }

type request struct {
	path  string
	body  []byte
	id    uint64
	names [4]string
	next  *request
	seen  atomic.Int64
}

func (r *request) name() string { return r.path }

var (
	text   = marker.New1[string]("cost:text", "text %s")
	named  = marker.New1[label]("cost:named", "text %s")
	raw    = marker.New1[[]byte]("cost:raw", "raw %s")
	number = marker.New1[int]("cost:number", "n %d")
	bits   = marker.New1[uint64]("cost:bits", "bits %x")
	truth  = marker.New1[bool]("cost:truth", "is %t")
	pair   = marker.New2[string, int]("cost:pair", "text %s n %d")
	styled = marker.New1[marker.Text[label]]("cost:styled", "text %s")
	at     = marker.New1[unsafe.Pointer]("cost:at", "at %p")
)

const greeting = "hello, " + "world"

func free(r *request, i int, f float64, any any, b []byte, s string) {
	text.Mark(greeting + "!")
	text.Mark(r.next.path)
	text.Mark(r.names[i&3])
	text.Mark(s[1:i])
	text.Mark(any.(string))
	truth.Mark(string(b) == s || any == nil && i < 3)
	named.Mark(label(s))
	styled.Mark(marker.TextOf(label(s)))
	raw.Mark(b[:i])
	raw.Mark(nil)
	number.Mark(len(s) + cap(b)*2 - int(f))
	number.Mark(max(i, len(b)))
	number.Mark(int(r.seen.Load()))
	bits.Mark(math.Float64bits(f))
	bits.Mark(uint64(uintptr(unsafe.Pointer(r))))
	at.Mark(unsafe.Pointer(unsafe.SliceData(b)))
}

func costly(r *request, i int, b []byte, s string, m map[string]int, c fmt.Stringer) {
	styled.Mark(marker.TextOf(label(strconv.Itoa(i)))) // want `calling strconv.Itoa costs something while styled is not armed too`
	text.Mark(fmt.Sprint(i))                           // want `calling fmt.Sprint costs something while text is not armed too; guard it: if text.Enabled\(\) { … }`

	text.Mark(s + r.path)  // want `concatenating strings costs`
	text.Mark(string(b))   // want `converting b to string costs`
	raw.Mark([]byte(s))    // want `converting s to \[\]byte costs`
	text.Mark(r.name())    // want `calling r.name costs`
	text.Mark(c.String())  // want `calling c.String costs`
	number.Mark(m[s])      // want `looking up m\[s\] costs`
	raw.Mark([]byte{1, 2}) // want `building \[\]byte costs`
	number.Mark(1 + len(
		strconv.Itoa(i))) // want `calling strconv.Itoa costs`
	at.Mark(unsafe.Pointer(&request{id: 1}))    // want `allocating request costs`
	at.Mark(unsafe.Pointer(new(int)))           // want `calling new costs`
	pair.Mark("x"+s, i*int(r.id)+r.next.size()) // want `concatenating strings and calling r.next.size cost something`
	number.Mark(func() int { return i }())      // want `calling this costs|calling \(func.*costs`
}

func (r *request) size() int { return len(r.body) }

// comments keep their place.
func comments(s string) {
	// before
	text.Mark("a" + s) // want `concatenating strings`
	// after
	if s != "" {
		text.Mark(
			// the argument
			"b" + // want `concatenating strings`
				s, // its end
		)
	}
	switch {
	case s == "":
		text.Mark("c" + s) /* nothing of the line's */ // want `concatenating strings`
	default:
		text.Mark("d" + s) // want `concatenating strings`
	}
}

func oneLine(s string) { text.Mark("e" + s) } // want `concatenating strings`

func unfixable(c chan int, s string, get func() *marker.Marker1[string]) {
	number.Mark(<-c)                                         // want `receiving from c is done while number is not armed too, and would not be done under a guard; receive before number.Mark`
	number.Mark(len(s) + 1)                                  // fine
	get().Mark("a" + s)                                      // want `concatenating strings costs`
	defer text.Mark("b" + s)                                 // want `concatenating strings costs`
	go text.Mark("c" + s)                                    // want `concatenating strings costs`
	for text.Mark("d" + s); len(s) > 3; text.Mark("e" + s) { // want `concatenating strings costs` `concatenating strings costs`
		s = s[1:]
	}
	//waymark:ignore it is read once a day
	text.Mark("f" + s)
	text.Mark("g" + s) //waymark:ignore it is read once a day
}
