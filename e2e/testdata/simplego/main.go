// Command simplego passes simple markers in functions of many shapes, over and over. The test
// counts how often each is passed, with another package in the place of simple, and compares the
// hits at the addresses that link found.
package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"github.com/waymark-trace/waymark/simple"
)

const rounds = 200

type node struct {
	n, m int
	s    string
	next *node
	arr  [8]int
	f    func(int) int
}

type shape interface{ area(int) int }

type square struct{ side int }

var (
	total   int
	global  *node
	names   = map[string]int{}
	sink    any
	list    []int
	errLate = errors.New("late")
)

//go:noinline
func work(n int) int { return n*7 + total&1 }

//go:noinline
func fails(n int) (int, error) {
	if n%3 == 0 {
		return 0, errLate
	}
	return n, nil
}

// What a condition chooses may be computed ahead of it.
//
//go:noinline
func chooses(n int) int {
	x := n
	if n%2 == 0 {
		simple.Mark1("c:choose", "x %d", x)
		x = n + 5
	}
	if n%5 > 2 {
		simple.Anchor1("a:choose", "x %d", x)
		x = n * 2
	}
	if n > 100 {
		simple.Mark1("c:empty", "n %d", n)
	}
	if n > 100 {
		simple.Anchor1("a:empty", "n %d", n)
	}
	if n&4 != 0 {
		x = x ^ 1
		simple.Mark1("c:chosen", "x %d", x)
	} else {
		simple.Mark1("c:otherwise", "x %d", x)
		x = work(x)
	}
	return x
}

//go:noinline
func loops(values []int) (sum int) {
	simple.Mark1("c:before_loop", "n %d", values)
	for i, v := range values {
		simple.Mark2("c:loop", "i %d v %d", i, v)
		sum += v * i
	}
	for i := 0; i < len(values); i++ {
		simple.Anchor2("a:loop", "i %d sum %d", i, sum)
		sum ^= values[i]
	}
	for i := range values {
		values[i] += sum
		simple.Mark1("c:loop_last", "i %d", i)
	}
	for i := range values {
		if values[i]%3 == 0 {
			simple.Mark1("c:continue", "i %d", i)
			continue
		}
		simple.Mark1("c:store", "i %d", i)
		values[i] = i
		if i > 5 {
			simple.Mark1("c:break", "i %d", i)
			break
		}
	}
	for {
		sum++
		if sum%7 == 0 {
			simple.Mark1("c:return_in_loop", "sum %d", sum)
			return sum
		}
		simple.Anchor1("a:forever", "sum %d", sum)
	}
}

// Bounds, nil and division by zero end a statement early.
//
//go:noinline
func panics(n int, a []int, p *node) (r int) {
	defer func() {
		if e := recover(); e != nil {
			simple.Mark1("c:recovered", "%v", e)
			total += len(fmt.Sprint(e))
		}
	}()
	simple.Mark1("c:bounds", "n %d", n)
	a[n%12] = n
	simple.Mark1("c:nil", "p %p", p)
	p.n = n
	simple.Mark1("c:divide", "n %d", n)
	total = n / (n % 4)
	simple.Mark1("c:call_bounds", "n %d", n)
	r = work(a[(n+1)%9])
	simple.Mark1("c:assert", "n %d", n)
	total = sink.(int)
	simple.Mark1("c:end_deferred", "n %d", n)
	return r
}

//go:noinline
func pointers(p *node, q *node, i int) {
	simple.Mark2("c:barrier", "p %p q %p", p, q)
	p.next = q
	simple.Mark1("c:global_barrier", "p %p", p)
	global = p
	simple.Mark1("c:array", "i %d", i)
	p.arr[i] = i
	simple.Mark1("c:increment", "p %p", p)
	p.n++
	simple.Mark1("c:field", "p %p", p)
	p.s = "field"
	simple.Mark0("c:end_plain", "")
}

// Copies of these are inlined into functions that know more than they do.
func (p *node) set(n int) {
	simple.Mark1("c:set", "n %d", n)
	p.n = n
}

func (p *node) report(n int) {
	if n > 3 {
		simple.Mark1("c:report", "n %d", n)
		total += work(n)
	}
}

func (p *node) anchored(n int) {
	simple.Anchor1("a:anchored", "n %d", n)
	p.n = n
}

func computed(n int) int {
	simple.Mark1("c:computed", "n %d", n)
	return n ^ 5
}

func (s square) area(k int) int {
	simple.Mark1("c:area", "k %d", k)
	return s.side * k
}

func calls(n int) int {
	simple.Mark1("c:inlined_call", "n %d", n)
	return work(n)
}

//go:noinline
func inlines(n int, p *node) int {
	var local node
	local.set(n)
	p.set(n)
	local.anchored(n)
	p.anchored(1)
	p.report(1)
	p.report(n)
	p.report(9)
	var sh shape = square{n}
	return local.n + computed(n) + computed(n+1)*computed(7) + calls(n) + calls(n*2) + square{3}.area(n) + sh.area(2)
}

//go:noinline
func virtual(sh shape, n int) int {
	simple.Mark1("c:interface", "n %d", n)
	return sh.area(n)
}

//go:noinline
func generic[T int | string | float64](l []T) (out T) {
	for _, v := range l {
		simple.Mark1("c:generic", "v %v", v)
		out = twice(v)
		simple.Anchor1("a:generic", "v %v", v)
	}
	simple.Mark1("c:generic_end", "out %v", out)
	return out
}

//go:noinline
func twice[T int | string | float64](v T) T { return v + v }

//go:noinline
func closures(n int) int {
	k := 1
	add := func(i int) {
		k += i
		simple.Mark1("c:closure", "i %d", i)
		total += work(i)
	}
	for i := range n {
		add(i)
	}
	simple.Mark1("c:before_literal", "k %d", k)
	each(n, func(i int) {
		simple.Anchor1("a:literal", "i %d", i)
		k ^= i
	})
	func() {
		simple.Mark1("c:called_literal", "k %d", k)
		total = k
	}()
	return k
}

//go:noinline
func each(n int, f func(int)) {
	for i := range n {
		f(i)
	}
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			simple.Anchor1("a:yield", "i %d", i)
			if !yield(i) {
				return
			}
		}
	}
}

//go:noinline
func iterates(n int) (sum int) {
	for i := range upTo(n) {
		simple.Mark1("c:iterates", "i %d", i)
		sum += work(i)
		if sum > 500 {
			simple.Anchor1("a:iterates", "sum %d", sum)
			break
		}
	}
	return sum
}

//go:noinline
func branches(n int, s string) string {
	switch n % 6 {
	case 0:
		simple.Mark1("c:case", "n %d", n)
		total++
	case 1:
		simple.Mark1("c:fall", "n %d", n)
		fallthrough
	case 2:
		simple.Mark1("c:fallen", "n %d", n)
		total = work(n)
	case 3:
		simple.Anchor1("a:case", "n %d", n)
	default:
		simple.Mark1("c:default", "n %d", n)
		return s + strconv.Itoa(n)
	}
	ok := n > 3
	if !ok {
		ok = len(s) > 2
	}
	simple.Mark1("c:phi", "ok %t", ok)
	if ok {
		s += "!"
	}
	simple.Mark1("c:logic", "n %d", n)
	if n%2 == 0 && work(n)%2 == 0 || n == 77 {
		s += "?"
	}
	simple.Mark1("c:condition", "n %d", n)
	if v, err := fails(n); err != nil {
		simple.Mark1("c:error", "v %d", v)
		return err.Error()
	}
	simple.Mark1("c:common", "n %d", n)
	x := n*n + 3
	y := n*n + 3
	simple.Mark1("c:concat", "s %s", s)
	s = s + "x" + s[:1]
	simple.Mark2("c:values", "x %d y %d", x, y)
	return strings.Repeat(s, x-y+1)
}

// table is large enough a switch for a jump by a table; its cases lead into and behind one another.
//
//go:noinline
func table(n int) int {
	sum := n
	switch n % 12 {
	case 0:
		simple.Mark1("c:table_first", "n %d", n)
		total += work(n)
	case 1, 5:
		total = n
		simple.Mark1("c:table_fall", "n %d", n)
		fallthrough
	case 2:
		total = work(n + 1)
		simple.Mark1("c:table_next", "n %d", n)
		sum += work(n)
	case 3: // leads behind all of them
	case 4:
		sum += work(sum)
		simple.Mark1("c:table_last", "sum %d", sum)
	case 6:
		simple.Anchor1("a:table", "n %d", n)
	case 7:
		total++
		simple.Mark1("c:table_store", "n %d", n)
		total = sum
	case 8:
		sum = work(1)
	case 9:
		sum = work(2)
	case 10:
		return work(3)
	}
	total = work(sum)
	simple.Mark1("c:table_after", "sum %d", sum)
	return work(sum)
}

//go:noinline
func jumps(n int) int {
	i := 0
again:
	simple.Mark1("c:label", "i %d", i)
	i++
	if i < n%5 {
		simple.Mark1("c:goto", "i %d", i)
		goto again
	}
	simple.Mark1("c:after_goto", "i %d", i)
	if n%2 == 0 {
		goto out
	}
	simple.Mark1("c:before_label", "i %d", i)
out:
	total += work(i)
outer:
	for a := range 4 {
		for b := range 4 {
			if a*b == n%7 {
				simple.Mark2("c:found", "a %d b %d", a, b)
				break outer
			}
			if a == b {
				simple.Anchor2("a:outer", "a %d b %d", a, b)
				continue outer
			}
		}
	}
	{
		simple.Mark1("c:block", "n %d", n)
	}
	total = work(n)
	return i
}

//go:noinline
func channels(n int) (got int) {
	in, done := make(chan int, 4), make(chan struct{})
	var wg sync.WaitGroup
	simple.Mark1("c:go", "n %d", n)
	wg.Add(1)
	simple.Mark1("c:go_statement", "n %d", n)
	go func() {
		defer wg.Done()
		for v := range in {
			simple.Anchor1("a:received", "v %d", v)
			got += v
		}
		simple.Mark1("c:goroutine_end", "got %d", got)
		close(done)
	}()
	for i := range n {
		simple.Mark1("c:send", "i %d", i)
		in <- i
	}
	simple.Mark0("c:close", "")
	close(in)
	simple.Mark0("c:receive", "")
	<-done
	select {
	case <-done:
		simple.Mark1("c:select", "got %d", got)
		total = work(got)
	default:
		simple.Mark0("c:select_default", "")
	}
	wg.Wait()
	return got
}

//go:noinline
func maps(n int, key string) int {
	simple.Mark1("c:map_assign", "key %s", key)
	names[key] = n
	simple.Mark1("c:map_read", "key %s", key)
	v := names[key+"x"]
	simple.Mark1("c:map_delete", "v %d", v)
	delete(names, key)
	simple.Mark1("c:append", "n %d", n)
	list = append(list, n)
	simple.Mark1("c:make", "n %d", n)
	l := make([]int, n%10)
	simple.Mark1("c:copy", "n %d", n)
	copy(l, list)
	simple.Mark1("c:convert", "n %d", n)
	sink = n
	simple.Mark2("c:two_on_place", "n %d v %d", n, v)
	simple.Mark1("c:second_on_place", "n %d", n)
	return len(l)
}

//go:noinline
func deferred(n int) (err error) {
	defer func() {
		simple.Mark1("c:deferred", "err %v", err)
		total = n
	}()
	if n%2 == 0 {
		simple.Mark1("c:return_deferred", "n %d", n)
		return errLate
	}
	simple.Mark1("c:before_defer", "n %d", n)
	defer work(n)
	simple.Mark1("c:multi", "n %d", n)
	total = work(
		n +
			n*3,
	)
	simple.Mark1("c:gone_over", "n %d", n)
	k := n * 5
	total = work(k)
	simple.Mark1("c:nested_calls", "n %d", n)
	total = work(work(n) + len(fmt.Sprint(n)))
	return nil
}

//go:noinline
func grows(n int) int {
	var big [256]int
	big[n%256] = n
	simple.Mark1("c:grows", "n %d", n)
	if n > 0 {
		return grows(n-1) + big[n%256]
	}
	simple.Mark1("c:bottom", "n %d", n)
	return big[3]
}

//go:noinline
func many(a, b, c, d, e, f, g, h int) int {
	simple.Anchor8("a:many", "%d %d %d %d %d %d %d %d", a, b, c, d, e, f, g, h)
	return a + h
}

//go:noinline
func dropped(n int) int {
	simple.Mark1("c:dropped", "n %d", n)
	return work(n)
}

func main() {
	if len(os.Args) > 5 {
		fmt.Println(dropped(1))
	}
	debug.SetGCPercent(5) // write barriers are on for part of the time
	sink = 1
	sum := 0
	for n := range rounds {
		p, q := &node{n: n}, &node{m: n}
		if n%11 == 0 {
			runtime.GC()
		}
		if n%6 == 0 {
			q = nil
		}
		sum += chooses(n) + loops([]int{n, 2, 3, n + 1, 5, 6, n * 2, 8}) + panics(n, make([]int, 10), q)
		pointers(p, q, n%8)
		sum += inlines(n, p) + virtual(square{n}, n) + generic([]int{n, 1}) + len(generic([]string{"a", "b"})) + int(generic([]float64{1}))
		sum += closures(n%5) + iterates(n%20) + len(branches(n, strconv.Itoa(n))) + table(n) + jumps(n) + channels(n%6) + maps(n, strconv.Itoa(n%9))
		if deferred(n) != nil {
			sum++
		}
		sum += grows(n%40) + many(1, n, 3, 4, 5, 6, 7, 8)
	}
	ended := make(chan int)
	go func() { ended <- grows(3000) }() // its stack grows under way
	sum += <-ended
	fmt.Fprintln(os.Stderr, sum != 0)
	simple.Mark0("x:exit", "")
}
