package marker

import "github.com/waymark-trace/waymark/internal/inproc/problem"

// OnProblem sets the function that is called, once each, for a marker or tracepoint whose
// declaration is wrong, for a probe that cannot be connected to a marker found later, and for a
// probe that panicked, with a [*PanicError]. The default, also for nil, prints a line to
// standard error, and the stack of a panic. The function may be called on any goroutine, also on
// one that is inside Mark.
func OnProblem(report func(error)) { problem.OnProblem(report) }

// PanicError is the error of a probe that panicked, as passed to the function of [OnProblem]. Its
// Stack is the traceback.
type PanicError = problem.PanicError
