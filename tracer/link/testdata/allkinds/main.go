// Command allkinds marks every kind of argument a known number of times. It is what the
// tests of link and the tests against other tools look at.
//
//	allkinds [-n passes] [-wait duration] [-hold]
//
// It prints "ready", waits, or with -hold until its standard input ends, marks, and
// prints how often it marked each marker.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"
	"unsafe"

	"github.com/waymark-trace/waymark/marker"
)

type (
	status int32
	label  string
	blob   []byte
	phase  int8
	quoted string
)

func (p phase) String() string  { return "phase " + strconv.Itoa(int(p)) }
func (q quoted) String() string { return strconv.Quote(string(q)) }

var (
	none    = marker.New0("kinds:none", "")
	signed  = marker.New5[int, int8, int16, int32, int64]("kinds:signed", "i %d i8 %d i16 %d i32 %d i64 %d")
	plain   = marker.New5[uint, uint8, uint16, uint32, uint64]("kinds:unsigned", "u %u u8 %u u16 %u u32 %u u64 %u")
	floats  = marker.New3[float32, float64, bool]("kinds:floats", "f32 %f f64 %g yes %t")
	texts   = marker.New2[string, []byte]("kinds:texts", "s %s b %x")
	named   = marker.New3[status, label, blob]("kinds:named", "status %d label %s blob %q")
	address = marker.New2[uintptr, unsafe.Pointer]("kinds:address", "u %x p %p")
	eight   = marker.New8[string, status, bool, float64, uint8, int16, []byte, unsafe.Pointer]("kinds:eight",
		"s %s n %d yes %t f %g u %u h %d raw %x p %p")
	strung  = marker.New3[marker.Text[phase], int, marker.Text[quoted]]("kinds:strung", "phase %s n %d quoted %v")
	unnamed = marker.New1[int]("unnamed_provider", "value %d")
)

//go:noinline
func pass(i int) {
	none.Mark()
	signed.Mark(-1-i, -8, -16, -32, -64)
	plain.Mark(uint(i), 200, 60000, 4000000000, 1<<64-1)
	floats.Mark(1.5, -2.25, i%2 == 1)
	texts.Mark("a text", []byte("raw\x00bytes"))
	named.Mark(-5, "label", blob("blob"))
	address.Mark(0x1000, unsafe.Pointer(nil))
	eight.Mark("/x", status(-5-i), i%2 == 1, 2.5, 250, -3, []byte("abc"), nil)
	strung.Mark(marker.TextOf(phase(-7)), i, marker.TextOf(quoted("word")))
	if unnamed.Enabled() {
		unnamed.Mark(i)
	}
}

func main() {
	n := flag.Int("n", 1, "passes")
	wait := flag.Duration("wait", 0, "how long to wait before marking")
	hold := flag.Bool("hold", false, "wait for the end of standard input before marking, and again before leaving")
	flag.Parse()
	fmt.Println("ready")
	time.Sleep(*wait)
	line := make([]byte, 1)
	if *hold {
		os.Stdin.Read(line)
	}
	for i := range *n {
		pass(i)
	}
	fmt.Println("marked", *n)
	if *hold {
		io.Copy(io.Discard, os.Stdin)
	}
}
