package tracepoint

import "github.com/waymark-trace/waymark/internal/inproc/problem"

// OnProblem sets the function that is told, once each, of a tracepoint or marker whose
// declaration is wrong and of a probe that panicked, which is a [*PanicError]: the same function
// as marker.OnProblem sets. The default, also for nil, prints a line to standard error, and the
// stack of a panic. The function may be called on any goroutine, also on one that is inside Trace.
func OnProblem(report func(error)) { problem.OnProblem(report) }

// PanicError is the error of a probe that panicked, for a function that [OnProblem] sets to
// look at: its Stack says where.
type PanicError = problem.PanicError
