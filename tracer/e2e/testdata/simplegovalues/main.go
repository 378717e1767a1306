// Command simplegovalues has variables of Go's types in registers, on the stack, on the heap, in
// pieces, folded and inlined, each with a simple marker.
package main

import (
	"fmt"
	"os"

	"github.com/waymark-trace/waymark/simple"
)

type state uint8

type request struct {
	Method string
	Path   string
	Length int64
	Header map[string]string
	State  state
	Ratio  float64
	next   *request
}

type point struct{ X, Y int32 }

var (
	total int
	sink  any
)

//go:noinline
func use(args ...any) { sink = len(args) }

//go:noinline
func clobber(n int) int { total += n; return total }

//go:noinline
func registers(a int, b int32, s string, c bool, p *request, d uint8) int {
	n := a*3 + int(b)
	simple.Mark6("g:registers", "%d %d %s %t %p %d", a, b, s, c, p, d)
	n += clobber(n)
	return n + len(s) + int(d)
}

//go:noinline
func slices(ints []int, bytes []byte, small []int16, names []string) int {
	simple.Mark4("g:slices", "%v %s %v %v", ints, bytes, small, names)
	return clobber(len(ints)) + len(bytes) + len(small) + len(names)
}

//go:noinline
func structs(p point, req request) int {
	simple.Mark3("g:structs", "%v %s %d", p, req.Method, req.Length)
	use(&p)
	return clobber(int(p.X)) + len(req.Path)
}

//go:noinline
func heap(n int) func() int {
	x := n * 7
	f := func() int { x++; return x }
	simple.Mark2("g:heap", "%d %d", n, x)
	use(f)
	return f
}

//go:noinline
func loop(values []int) int {
	sum := 0
	for i, v := range values {
		simple.Mark3("g:loop", "%d %d %d", i, v, sum)
		sum += clobber(v) & 7
	}
	return sum
}

func inlined(n int, why string) int {
	m := n * n
	simple.Mark3("g:inlined", "%d %d %s", n, m, why)
	return clobber(m)
}

//go:noinline
func callers(n int) int { return inlined(n, "once") + inlined(n+1, "twice") }

//go:noinline
func method(req *request, last *request) int {
	found := 0
	for r := req; r != nil; r = r.next {
		simple.Mark2("g:method", "%p %d", r, found)
		found += clobber(int(r.Length))
	}
	return found + len(last.Path)
}

//go:noinline
func generic[T int | string](v T, n int) T {
	simple.Mark2("g:generic", "%v %d", v, n)
	clobber(n)
	return v
}

func main() {
	last := &request{Method: "PUT", Path: "/last", Length: 12, State: 3, Ratio: 0.5}
	req := &request{Method: "GET", Path: "/first", Length: -1, State: 7, Ratio: 2.25, next: last}
	r := 0
	for i := range 3 {
		r += registers(i-1, int32(-i), "text", i == 1, req, 250)
		r += slices([]int{i, -i, i * 1000}, []byte("bytes"), []int16{-1, int16(i)}, os.Args[:1])
		r += structs(point{int32(i), -5}, *req)
		r += heap(i)()
		r += callers(i)
		generic(i, i)
		generic("word", i)
	}
	r += loop([]int{5, -6, 7, 8})
	r += method(req, last) + more(req)
	fmt.Println(r)
}
