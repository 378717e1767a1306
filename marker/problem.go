package marker

import "github.com/waymark-trace/waymark/internal/inproc/problem"

// OnProblem sets the function that is told, once each, of a marker or tracepoint whose
// declaration is wrong, of a probe that cannot be connected to a marker found later, and of a
// probe that panicked, which is a [*PanicError]. The default, also for nil, prints a line to
// standard error, and the stack of a panic. The function may be called on any goroutine, also on
// one that is inside Mark.
func OnProblem(report func(error)) { problem.OnProblem(report) }

// PanicError is the error of a probe that panicked, for a function that [OnProblem] sets to
// look at: its Stack says where.
type PanicError = problem.PanicError
