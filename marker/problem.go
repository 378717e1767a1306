package marker

import "github.com/waymark-trace/waymark/internal/problem"

// OnProblem sets the function that is told, once each, of a marker or tracepoint whose
// declaration is wrong, of a probe that cannot be connected to a marker found later, and of a
// probe that panicked. The default, also for nil, prints a line to standard error. The function
// may be called on any goroutine, also on one that is inside Mark.
func OnProblem(report func(error)) { problem.OnProblem(report) }
