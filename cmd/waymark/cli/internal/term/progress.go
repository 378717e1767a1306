package term

import (
	"fmt"
	"sync"
	"time"
)

// Patience is how long a step may take before Progress reports it.
const Patience = time.Second

// Progress reports a step that takes longer than a second, with the time since it began. It writes
// to a terminal only, and done removes the report.
func (e *Env) Progress(format string, args ...any) (done func()) {
	text := fmt.Sprintf(format, args...)
	return e.ProgressOf(func() string { return text })
}

// ProgressOf is Progress with a text that changes. It calls text every second, from another goroutine.
func (e *Env) ProgressOf(text func() string) (done func()) {
	if !isScreen(e.Stderr.to) {
		return func() {}
	}
	ended := make(chan struct{})
	var ending sync.WaitGroup
	ending.Go(func() {
		begun := time.Now()
		ticker := time.NewTicker(Patience)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				e.Status("")
				return
			case <-ticker.C:
			}
			e.Status("waymark: %s… %d s", text(), int(time.Since(begun).Seconds()))
		}
	})
	return sync.OnceFunc(func() {
		close(ended)
		ending.Wait()
	})
}
