// What ends a statement early: bounds, nil and division by zero; channels and maps.

package main

import (
	"fmt"
	"sync"

	"github.com/waymark-trace/waymark/simple"
)

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
