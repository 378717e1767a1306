package point

import (
	"runtime"
	"strings"
	"sync"
	"testing"
)

// The oracle is the runtime's own traceback, on goroutines that the search has not seen.
func TestGoroutineIsTheOneInTracebacks(t *testing.T) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[uint64]bool{}
	for range 200 {
		wg.Go(func() {
			got, want := Goroutine(), printedNumber()
			if got != want || got == 0 {
				t.Errorf("goroutine %d, its traceback says %d", got, want)
			}
			mu.Lock()
			defer mu.Unlock()
			if seen[got] {
				t.Errorf("two goroutines have number %d", got)
			}
			seen[got] = true
		})
	}
	wg.Wait()

	text := make([]byte, 1<<10)
	text = text[:runtime.Stack(text, false)]
	if !strings.HasPrefix(string(text), "goroutine ") || printedNumber() == 0 {
		t.Errorf("a traceback begins with %.40q", text)
	}
}

// Otherwise every pair that is joined by goroutine costs microseconds.
func TestGoroutineIsFoundWithoutATraceback(t *testing.T) {
	if numberOffset() == 0 {
		t.Errorf("the number's place in a descriptor was not found in %s", runtime.Version())
	}
}

func BenchmarkGoroutine(b *testing.B) {
	for b.Loop() {
		Goroutine()
	}
}
