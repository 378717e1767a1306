package main

import (
	"fmt"

	"github.com/waymark-trace/waymark/simple"
)

type wide struct {
	A int64
	B uint16
	C bool
	D string
}

//go:noinline
func folded(n int) int {
	const limit = 40
	k := limit + 2
	big := uint8(k * 2)
	simple.Mark3("g:folded", "%d %d %d", k, big, n)
	return clobber(n + k + int(big))
}

//go:noinline
func split(w wide, q point) int {
	simple.Mark4("g:split", "%d %d %t %s", w.A, w.B, w.C, w.D)
	n := clobber(int(w.A))
	simple.Mark3("g:spilled", "%s %d %d", w.D, q.X, n)
	return clobber(n+len(w.D)) + int(q.Y)
}

//go:noinline
func clobbered(a, b, c int) int {
	n := clobber(a * b)
	simple.Mark4("g:clobbered", "%d %d %d %d", a, b, c, n)
	return clobber(c)
}

//go:noinline
func captures(n int) int {
	sum, label := 0, "captured"
	add := func(by int) {
		simple.Mark4("g:closure", "%d %d %d %s", by, sum, n, label)
		sum += clobber(by) & 3
	}
	add(n)
	add(n + 1)
	use(add)
	return sum + len(label)
}

//go:noinline
func interfaces(e error, v any, m map[string]int, ch chan int, f func(int) int) int {
	simple.Mark5("g:interfaces", "%v %v %v %v %v", e, v, m, ch, f)
	use(e, v)
	return clobber(len(m))
}

//go:noinline
func arrays(a [4]int32, n int) int {
	local := [3]uint8{uint8(n), 2, 255}
	simple.Mark3("g:arrays", "%v %v %d", a, local, n)
	use(&a, &local)
	return clobber(int(a[0]))
}

//go:noinline
func floats(x float64, y float32, n int) int {
	simple.Mark3("g:floats", "%f %f %d", x, y, n)
	return clobber(int(x) + int(y) + n)
}

//go:noinline
func pairs[K comparable, V any](k K, v V, n int) int {
	simple.Mark3("g:pairs", "%v %v %d", k, v, n)
	clobber(n)
	use(k, v)
	return n
}

func deeper(n int) int {
	twice := 2 * n
	simple.Mark2("g:deeper", "%d %d", n, twice)
	return clobber(twice)
}

func deep(n int) int { return deeper(n+1) + deeper(n+2) }

//go:noinline
func nest(n int) int { return deep(n) + deeper(n) }

func results(n int) (text string, err error) {
	text = "long"
	simple.Mark2("g:results", "%s %d", text, n)
	if clobber(n) < 0 {
		err = fmt.Errorf("%d", n)
	}
	return text, err
}

func more(req *request) (r int) {
	ints := map[string]int{"one": 1}
	ch := make(chan int, 1)
	for i := range 3 {
		r += folded(i) + split(wide{int64(i) << 40, uint16(i + 65533), i == 2, "wide"}, point{int32(i), 9})
		r += clobbered(i, i+1, i+2) + captures(i)
		r += interfaces(fmt.Errorf("error %d", i), i, ints, ch, clobber)
		r += interfaces(nil, nil, nil, nil, nil)
		r += arrays([4]int32{int32(-i), 1, 2, 3}, i) + floats(float64(i)+0.5, float32(i)*1.5, i)
		r += pairs(i, "value", i) + pairs("key", float64(i), i) + nest(i)
		text, err := results(i)
		use(text, err, req)
	}
	return r
}
