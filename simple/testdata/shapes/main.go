// Command shapes marks in functions of every shape. The test removes the lines that mark and
// compares what is left of the code: nothing may differ. Functions whose names begin with
// leaves are the documented exceptions: arguments that leave a check behind.
package main

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/waymark-trace/waymark/simple"
)

type inner struct{ n, m int }

type outer struct {
	name string
	in   inner
	data []byte
	m    map[string]int
	arr  [4]int
}

type shape interface{ area(scale float64) float64 }

type number interface{ ~int | ~float64 }

var global = outer{name: "global"}

const limit = 12

//go:noinline
func none(n int) int {
	simple.Mark0("shape:none", "nothing")
	return n + 1
}

//go:noinline
func straight(n int, s string) int {
	k := n * 3
	simple.Mark2("shape:straight", "n %d k %d", n, k)
	k += len(s)
	simple.Mark3("shape:straight_end", "n %d k %d s %s", n, k, s)
	return k
}

//go:noinline
func loop(values []int) (sum int) {
	for i, v := range values {
		simple.Mark3("shape:loop", "i %d v %d sum %d", i, v, sum)
		sum += v * i
	}
	for sum > 1000 {
		sum /= 2
		simple.Mark1("shape:halve", "sum %d", sum)
	}
	return sum
}

//go:noinline
func nested(n int) (c int) {
	for i := range n {
		for j := range i {
			if (i^j)&3 == 0 {
				simple.Mark3("shape:nested", "i %d j %d c %d", i, j, c)
				c++
				continue
			}
			c += j
			simple.Mark1("shape:nested_end", "c %d", c)
		}
	}
	return c
}

//go:noinline
func condition(n int, s string) string {
	if n > 3 {
		simple.Mark1("shape:big", "n %d", n)
	}
	if n > 5 {
		simple.Mark2("shape:bigger", "n %d s %s", n, s)
		s += "!"
	} else if s != "" {
		simple.Mark1("shape:else", "s %s", s)
		return s[1:]
	}
	switch n {
	case 1:
		simple.Mark1("shape:one", "n %d", n)
		return "one"
	case 2, 3, 4, 5, 6, 7, 8:
		s += "few"
		simple.Mark1("shape:few", "s %s", s)
	default:
		simple.Mark1("shape:default", "n %d", n)
	}
	return s
}

//go:noinline
func kinds(b bool, i8 int8, u uint64, f float32, c complex128, s string, p *outer, e error) bool {
	simple.Mark8("shape:kinds", "%t %d %d %f %v %s %p %v", b, i8, u, f, c, s, p, e)
	return b
}

//go:noinline
func composites(l []byte, a [4]int, m map[string]int, ch chan int, fn func(int) int, sh shape, o outer, up uintptr) int {
	simple.Mark8("shape:composites", "%v %v %v %v %v %v %v %x", l, a, m, ch, fn, sh, o, up)
	return len(l) + a[1] + len(m) + fn(cap(ch)) + o.in.n
}

//go:noinline
func fields(o outer, n int) int {
	o.in.n += n
	simple.Mark4("shape:fields", "%d %d %s %d", o.in.n, o.in.m, o.name, o.in)
	simple.Mark2("shape:global", "%s %d", global.name, global.in.n)
	return o.in.n + limit
}

//go:noinline
func constants(n int) int {
	simple.Mark3("shape:constants", "%d %d %s", limit, 3, "three")
	return n
}

//go:noinline
func escapes(n int) *inner {
	in := inner{n: n}
	simple.Mark2("shape:escapes", "%d %v", in.n, in)
	in.m = n
	simple.Mark1("shape:escaped", "%d", in.m)
	return &in
}

//go:noinline
func closure(n int) func(int) int {
	calls := 0
	return func(k int) int {
		calls++
		simple.Mark3("shape:closure", "calls %d n %d k %d", calls, n, k)
		return calls*n + k
	}
}

//go:noinline
func deferred(mu *sync.Mutex, n int) (err error) {
	mu.Lock()
	defer mu.Unlock()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered at %d: %v", n, r)
			simple.Mark2("shape:recovered", "n %d err %v", n, err)
		}
	}()
	simple.Mark1("shape:deferred", "n %d", n)
	if n == 0 {
		panic("zero")
	}
	return nil
}

//go:noinline
func selects(in, out chan int, done chan struct{}) (n int) {
	for {
		select {
		case v, ok := <-in:
			simple.Mark2("shape:received", "v %d ok %t", v, ok)
			if !ok {
				return n
			}
			n += v
		case out <- n:
			simple.Mark1("shape:sent", "n %d", n)
		case <-done:
			simple.Mark0("shape:done", "")
			return n
		}
	}
}

//go:noinline
func goroutines(n int) int {
	results := make(chan int, n)
	for i := range n {
		go func() {
			results <- i * i
			simple.Mark1("shape:goroutine", "i %d", i)
		}()
	}
	sum := 0
	for range n {
		r := <-results
		simple.Mark2("shape:result", "r %d sum %d", r, sum)
		sum += r
	}
	return sum
}

//go:noinline
func generic[T number](list []T) (sum T) {
	for _, v := range list {
		sum += v
		simple.Mark2("shape:generic", "v %v sum %v", v, sum)
	}
	return sum
}

type box[T any] struct{ v T }

//go:noinline
func (b box[T]) get() T {
	simple.Mark1("shape:box", "%v", b.v)
	return b.v
}

func (o outer) area(scale float64) float64 {
	simple.Mark2("shape:area", "scale %f n %d", scale, o.in.n)
	return scale * float64(o.in.n)
}

//go:noinline
func (o *outer) grow(by int) int {
	simple.Mark2("shape:grow", "o %p by %d", o, by)
	o.in.n += by
	return o.in.n
}

func inlined(n int) int {
	simple.Mark1("shape:inlined", "n %d", n)
	return n ^ 5
}

//go:noinline
func inlines(n int) int { return inlined(n) + inlined(n+1)*inlined(n*2) }

//go:noinline
func labels(grid [][]int, want int) (x, y int) {
outer:
	for y = range grid {
		for x = range grid[y] {
			if grid[y][x] == want {
				simple.Mark3("shape:found", "x %d y %d want %d", x, y, want)
				break outer
			}
		}
	}
	if x < want {
		goto out
	}
	simple.Mark1("shape:label", "x %d", x)
	x++
out:
	return x, y
}

//go:noinline
func asserts(v any) string {
	switch v := v.(type) {
	case int:
		simple.Mark1("shape:int", "%d", v)
		return "int"
	case error:
		simple.Mark1("shape:error", "%v", v)
		return v.Error()
	}
	return ""
}

//go:noinline
func iterates(n int, yield func(int) bool) (total int) {
	seq := func(yield func(int) bool) {
		for i := range n {
			simple.Mark1("shape:yield", "i %d", i)
			if !yield(i) {
				return
			}
		}
	}
	for i := range seq {
		simple.Mark2("shape:iterates", "i %d total %d", i, total)
		if total += i; !yield(i) {
			break
		}
	}
	return total
}

//go:noinline
func leavesNilCheck(p *outer) int {
	simple.Mark1("shape:nilcheck", "%s", p.name)
	return limit
}

//go:noinline
func leavesBoundsCheck(s []int, i int) int {
	simple.Mark1("shape:boundscheck", "%d", s[i])
	return i
}

//go:noinline
func leavesCapture(n int) func() int {
	return func() int {
		simple.Mark1("shape:capture", "%d", n)
		return limit
	}
}

//go:noinline
func leavesOrder(n int, s string) func() string {
	return func() string {
		simple.Mark2("shape:order", "%s %d", s, n)
		return fmt.Sprint(n, s)
	}
}

func main() {
	n := len(os.Args)
	var mu sync.Mutex
	in, out, done := make(chan int, 1), make(chan int, 1), make(chan struct{})
	close(done)
	o := &outer{in: inner{n, n}, m: map[string]int{}}
	fmt.Println(none(n), straight(n, os.Args[0]), loop([]int{n, 2, 3}), nested(n), condition(n, "x"),
		kinds(n > 1, int8(n), 1, 2, 3, "s", o, errors.ErrUnsupported),
		composites(nil, o.arr, o.m, in, func(i int) int { return i }, o, *o, 1),
		fields(*o, n), constants(n), escapes(n), closure(n)(n), deferred(&mu, n), selects(in, out, done), goroutines(n),
		generic([]int{n}), generic([]float64{1}), box[string]{"x"}.get(), box[int]{n}.get(), shape(*o).area(2), o.grow(1), inlines(n),
		asserts(n), iterates(n, func(int) bool { return true }), leavesNilCheck(o), leavesBoundsCheck(o.arr[:], n), leavesCapture(n)(), leavesOrder(n, "s")())
	fmt.Println(labels([][]int{{n}}, n))
}
