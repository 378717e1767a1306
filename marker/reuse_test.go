package marker_test

import (
	"sync"
	"testing"

	"github.com/waymark-trace/waymark/marker"
)

var reused = marker.New1[string]("test:reused", "text %s")

// Goroutines that end leave their descriptor, and the record that goes with it, to others that
// they have nothing to do with. Under the race detector that must not look like a race.
func TestRecordsPassBetweenGoroutines(t *testing.T) {
	p, err := marker.Register("test:reused", "", func(e *marker.Event) { _ = e.String() }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Unregister()
	if err := reused.Arm(); err != nil {
		t.Fatal(err)
	}
	defer reused.Disarm()
	var starters sync.WaitGroup
	for range 4 {
		starters.Go(func() { // the starters do not synchronize with each other
			for range 200 {
				var one sync.WaitGroup
				one.Go(func() {
					for range 10 {
						reused.Mark("x")
					}
				})
				one.Wait()
			}
		})
	}
	starters.Wait()
}
