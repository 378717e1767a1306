// Command typed passes tracepoints of Go types, and prints as JSON, a line each, what it passed: what a recording has
// to say. It begins when it has read a line, and passes once more for each further one.
//
//	typed           three passes a line
//	typed 1000000   so many of work:counted a line, which it does not print
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"
	"unsafe"

	_ "github.com/waymark-trace/waymark/agent/auto"
	"github.com/waymark-trace/waymark/tracepoint"
)

type (
	level  int8
	title  string
	blob   []byte
	order  struct{ id, items int }
	failed struct{ code int }
)

func (f *failed) Error() string { return strconv.Itoa(f.code) }

var (
	numbers = tracepoint.New8[bool, level, int16, int32, int64, uint8, uint32, uintptr]("typed:numbers",
		"yes", "level", "short", "word", "long", "octet", "half", "address")
	texts    = tracepoint.New5[int, title, blob, string, uint16]("typed:texts", "n", "title", "blob", "text", "behind")
	floats   = tracepoint.New3[float32, float64, time.Duration]("typed:floats", "single", "double", "took")
	pointers = tracepoint.New6[*order, unsafe.Pointer, map[string]int, chan int, func(), []byte]("typed:pointers",
		"order", "raw", "index", "queue", "hook", "none")
	mixed   = tracepoint.New8[uint8, order, string, error, int32, [3]byte, []int, uint64]("typed:mixed", "octet", "order", "text", "err", "word", "array", "list", "long")
	nothing = tracepoint.New2[any, complex128]("typed:nothing")
	bare    = tracepoint.New0("typed:bare")
	counted = tracepoint.New2[*order, int]("typed:counted", "order", "n")
)

func hook() {}

// word is what a variable of one machine word holds.
func word[T any](v *T) uintptr { return *(*uintptr)(unsafe.Pointer(v)) }

func main() {
	many := 0
	if len(os.Args) > 1 {
		many, _ = strconv.Atoi(os.Args[1])
	}
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	o := &order{1, 2}
	total := 0
	for round := 0; in.Scan(); round++ {
		for n := range many {
			counted.Trace(o, total+n)
		}
		total += many
		for i := range 3 {
			if many == 0 {
				pass(out, o, 3*round+i)
			}
		}
		fmt.Println("passed", total)
	}
}

// values are what a recording has of the arguments of one pass, by their names: of some nothing.
type values map[string]any

func say(out *json.Encoder, name string, v values) {
	out.Encode(struct {
		Marker string `json:"marker"`
		Fields values `json:"fields"`
	}{name, v})
}

func pass(out *json.Encoder, o *order, n int) {
	numbers.Trace(n%2 == 0, level(-n), int16(-300*n), int32(-70000*n), int64(-n)<<40, uint8(200+n), uint32(4e9)+uint32(n), uintptr(n))
	say(out, "typed:numbers", values{
		"yes": n%2 == 0, "level": -n, "short": -300 * n, "word": -70000 * n, "long": int64(-n) << 40, "octet": 200 + n,
		"half": 4_000_000_000 + n, "address": n,
	})

	text, bytes := []string{"", "a", "a\x00b", "ümläut\n"}[n%4], []byte{'x', 'y', byte('0' + n%10)}[:n%4]
	texts.Trace(n, title("t"+text), blob(bytes), text, uint16(n))
	say(out, "typed:texts", values{"n": n, "title": "t" + text, "blob": bytes, "text": text, "behind": n})

	floats.Trace(float32(n)+0.5, float64(n)/3, time.Duration(n)*time.Second)
	say(out, "typed:floats", values{"single": float32(n) + 0.5, "double": float64(n) / 3, "took": time.Duration(n) * time.Second})

	index, queue, f := map[string]int{}, make(chan int), hook
	pointers.Trace(o, unsafe.Pointer(o), index, queue, f, nil)
	say(out, "typed:pointers", values{
		"order": word(&o), "raw": word(&o), "index": word(&index), "queue": word(&queue), "hook": word(&f), "none": "",
	})

	mixed.Trace(uint8(n), *o, text, &failed{n}, int32(n), [3]byte{1}, []int{n}, uint64(n)<<60)
	say(out, "typed:mixed", values{
		"octet": n, "order": nil, "text": text, "err": nil, "word": n, "array": nil, "list": nil, "long": uint64(n) << 60,
	})

	nothing.Trace(n, complex(1, float64(n)))
	say(out, "typed:nothing", values{"arg1": nil, "arg2": nil})
	bare.Trace()
	say(out, "typed:bare", values{})
}
