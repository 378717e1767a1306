// Conditions, switches and jumps.

package main

import (
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/simple"
)

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
