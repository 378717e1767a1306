package tracepoint

import "github.com/waymark-trace/waymark/internal/problem"

// OnProblem sets the function that is told, once each, of a tracepoint or marker whose
// declaration is wrong and of a probe that panicked: the same function as marker.OnProblem sets.
// The default, also for nil, prints a line to standard error. The function may be called on
// any goroutine, also on one that is inside Trace.
func OnProblem(report func(error)) { problem.OnProblem(report) }
