// Package simple has simple markers, good ones and bad.
package simple

import (
	"net/http"

	"github.com/waymark-trace/waymark/simple"
)

type pair struct {
	a, b int
	p    *pair
	arr  [4]int
}

const name, verb = "simple:constant", "n %d"

var global pair

func good(n int, s string, r *http.Request, v pair, m map[string]int, e error) {
	simple.Mark0("simple:none", "")
	simple.Mark2("simple:two:deep", "n %d s %s", n, s)
	simple.Mark2("simple:same", "n %d n %d", n, n)
	simple.Mark1(name, verb, n)
	simple.Mark4("simple:kinds", "%v %p %v %v", v, r, m, e)
	simple.Mark4("simple:fields", "%d %d %d %d", v.a, v.arr[2], global.b, (v.b))
	simple.Mark2("simple:constants", "%d %s", 3, "x")
	simple.Anchor1("simple:anchored", "n %d", n)
}

func bad(n int, s string, p *pair, v pair, l []int, m map[string]int) {
	simple.Mark1("simple:bad-name", "n %d", n) // want `has "-" at byte 3`
	simple.Mark1("simple::x", "n %d", n)       // want `component is empty`
	simple.Mark1(s, "n %d", n)                 // want `the name of a simple marker is a constant`
	simple.Mark1("simple:x", s, n)             // want `the format of a simple marker is a constant`
	simple.Anchor1("simple:x", "%d", p.a)      // want `p\.a leaves its nil check behind`
	simple.Mark1("simple:x", "%d %d", n)       // want `2 verbs for 1 arguments`
	simple.Mark1("simple:x", "%s", n)          // want `%s cannot print n, which is int`
	simple.Mark1("simple:x", "%d", p.a)        // want `p\.a leaves its nil check behind`
	simple.Mark1("simple:x", "%d", v.p.a)      // want `v\.p\.a leaves its nil check behind`
	simple.Mark1("simple:x", "%v", *p)         // want `\*p leaves its nil check behind`
	simple.Mark1("simple:x", "%d", l[n])       // want `l\[n\] leaves its bounds check behind`
	simple.Mark1("simple:x", "%d", v.arr[n])   // want `v\.arr\[n\] leaves its bounds check behind`
	simple.Mark1("simple:x", "%d", m[s])       // want `m\[s\] is looked up`
	simple.Mark1("simple:x", "%d", n+1)        // want `n \+ 1 is no variable`
	simple.Mark1("simple:x", "%d", len(s))     // want `len\(s\) is no variable`
	simple.Mark1("simple:x", "%v", v.method)   // want `v\.method is made for the marker alone`
	simple.Mark1("simple:x", "%d", n+1)        //waymark:ignore measured
}

func (pair) method() {}

func closures(n, k int) func() int {
	return func() int {
		local := n
		simple.Mark2("simple:closure", "%d %d", n, local)
		simple.Mark1("simple:captured", "%d", k) // want `captures k for the marker alone`
		return local
	}
}
