// What is inlined into functions, and instances of generic ones.

package main

import "github.com/waymark-trace/waymark/simple"

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
