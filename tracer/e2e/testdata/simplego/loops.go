// Loops, and functions that iterate.

package main

import "github.com/waymark-trace/waymark/simple"

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
