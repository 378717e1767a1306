// Calls of all kinds.

package main

import (
	"fmt"

	"github.com/waymark-trace/waymark/simple"
)

func (s square) area(k int) int {
	simple.Mark1("c:area", "k %d", k)
	return s.side * k
}

func calls(n int) int {
	simple.Mark1("c:inlined_call", "n %d", n)
	return work(n)
}

//go:noinline
func virtual(sh shape, n int) int {
	simple.Mark1("c:interface", "n %d", n)
	return sh.area(n)
}

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
