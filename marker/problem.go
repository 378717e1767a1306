package marker

import "sync/atomic"

var problemHook atomic.Pointer[func(error)]

// OnProblem sets the function that is told, once each, of a marker whose name or format is
// wrong and of a probe that panicked. The default prints a line to standard error. The
// function may be called on any goroutine and must not mark the marker it is told of.
func OnProblem(report func(error)) { problemHook.Store(&report) }

func reportProblem(err error) {
	if hook := problemHook.Load(); hook != nil && *hook != nil {
		(*hook)(err)
		return
	}
	print("waymark: ", err.Error(), "\n") // to standard error, without package os
}
