package tracer

import (
	"context"
	"errors"
)

// ErrNotPatched says that sites of a process do not follow what a tracer wants of them.
var ErrNotPatched = errors.New("its optimized sites do not follow")

// AwaitPatched waits for processes of t that run a program which went through "waymark link --optimize".
// Such a program looks every 100 ms which of its markers Count, Trace and Latency want, and only then
// do passes count; one that was started later looked before its main function ran. AwaitPatched
// returns when all processes have done so, and at once when none is such a program. After two seconds,
// or when a program was told not to look (--no-watch), the error wraps ErrNotPatched.
func AwaitPatched(ctx context.Context, t Target, markers []*Marker) error {
	return awaitPatched(ctx, t, markers)
}
