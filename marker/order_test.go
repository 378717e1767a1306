package marker_test

import (
	"runtime"
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

var ordered = marker.New1[int]("test:ordered", "n %d")

// Code before Register happens before every call of the probe, and the calls happen before
// the return of Unregister: both sides use variables without a lock, and the race detector
// judges. The goroutines share nothing else.
func TestOrder(t *testing.T) {
	if err := ordered.Arm(); err != nil {
		t.Fatal(err)
	}
	defer ordered.Disarm()
	stop, stopped := make(chan bool), make(chan bool)
	defer func() { close(stop); <-stopped }()
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				ordered.Mark(i)
				if i%256 == 255 {
					runtime.Gosched() // WebAssembly interrupts no goroutine
				}
			}
		}
	}()
	called := 0
	for round := range 500 {
		before, after := round, -1
		fn := func(int) { after = before }
		var probe *marker.Probe
		var err error
		if round%2 == 0 {
			probe, err = ordered.Register(fn)
		} else {
			probe, err = marker.Register("test:ordered", "n %d", func(*marker.Event) { fn(0) }, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
		probe.Unregister()
		if after == round {
			called++
		} else if after != -1 {
			t.Fatalf("the probe left %d, want %d", after, round)
		}
		before, after = -1, -1 // a late call would race with this
		_, _ = before, after
	}
	if called == 0 {
		t.Error("no probe was ever called")
	}
}
