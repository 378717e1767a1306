package problem

import "sync/atomic"

var hook atomic.Pointer[func(error)]

// OnProblem sets the function that Report calls; nil is the default, which prints to standard
// error: a line, and the stack of a panic.
func OnProblem(report func(error)) { hook.Store(&report) }

// Report reports a point whose declaration is wrong, or a probe that panicked. A panic of the hook
// is caught: tracing must not harm the program.
func Report(err error) {
	if h := hook.Load(); h != nil && *h != nil {
		defer func() {
			if recover() != nil {
				print("waymark: ", err.Error(), " (and the hook panicked)\n")
			}
		}()
		(*h)(err)
		return
	}
	print("waymark: ", err.Error(), "\n") // to standard error, without package os
	if p, ok := err.(*PanicError); ok {
		print(string(p.Stack), "\n")
	}
}
