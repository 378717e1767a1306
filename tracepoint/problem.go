package tracepoint

import "github.com/waymark-trace/waymark/internal/inproc/problem"

// OnProblem sets the function that is called, once each, for a tracepoint or marker whose
// declaration is wrong, and for a probe that panicked, with a [*PanicError]. It is the same function
// as marker.OnProblem sets. The default, also for nil, prints a line to standard error, and the
// stack of a panic. The function may be called on any goroutine, also on one that is inside Trace.
func OnProblem(report func(error)) { problem.OnProblem(report) }

// PanicError is the error of a probe that panicked, as passed to the function of [OnProblem]. Its
// Stack is the traceback.
type PanicError = problem.PanicError
