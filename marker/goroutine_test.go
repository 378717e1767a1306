package marker_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

var onGoroutine = marker.New0("test:on_goroutine", "")

func TestEventKnowsItsGoroutine(t *testing.T) {
	var got uint64
	p, err := marker.Register("test:on_goroutine", "", func(e *marker.Event) { got = e.Goroutine() }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unregister()
	if err := onGoroutine.Arm(); err != nil {
		t.Fatal(err)
	}
	defer onGoroutine.Disarm()
	for range 20 {
		done := make(chan string)
		go func() {
			onGoroutine.Mark()
			text := make([]byte, 64)
			done <- string(text[:runtime.Stack(text, false)])
		}()
		if text := <-done; !strings.HasPrefix(text, fmt.Sprintf("goroutine %d [", got)) {
			t.Errorf("the event says goroutine %d, its traceback %.24q", got, text)
		}
	}
}
