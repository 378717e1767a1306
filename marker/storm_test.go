package marker_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/marker"
)

const (
	stormMarkers  = 32
	stormMarking  = 64
	stormChanging = 8
)

// stormTargets are on the heap because a table of them is easier than 32 variables; they
// behave like any others.
var stormTargets [stormMarkers]marker.Marker2[int, string] //waymark:ignore a table of markers is easier to storm than 32 variables

// TestStorm registers, arms, disarms and unregisters at random while many goroutines mark.
// Every probe knows whether its Unregister has returned, and a call that finds it so fails.
// Half of the markers stay armed with one probe: its calls must equal the marks. On the
// others, the marker's own count of hits bounds the calls.
//
//	WAYMARK_STORM=60s go test -race -run TestStorm ./marker
func TestStorm(t *testing.T) {
	duration := 3 * time.Second
	if testing.Short() {
		duration = time.Second
	}
	if s := os.Getenv("WAYMARK_STORM"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	var marks, calls [stormMarkers]atomic.Int64
	for i := range stormTargets {
		//waymark:ignore a table of markers is easier to storm than 32 variables
		stormTargets[i] = marker.New2[int, string](fmt.Sprintf("storm:m%d", i), "n %d s %s")
		if i%2 == 0 {
			p, err := stormTargets[i].Register(func(int, string) { calls[i].Add(1) })
			must(t, err)
			defer p.Unregister()
			must(t, stormTargets[i].Arm())
			defer stormTargets[i].Disarm()
		}
	}
	var stop atomic.Bool
	var marking, changing sync.WaitGroup
	// Each goroutine has its own random numbers: a lock around shared ones would prevent races.
	seed := peer.Seed(t)
	for n := range uint64(stormMarking) {
		marking.Go(func() {
			random := rand.New(rand.NewPCG(seed, n))
			for n := 0; !stop.Load(); n++ {
				i := random.IntN(stormMarkers)
				stormTargets[i].Mark(n, "text")
				marks[i].Add(1)
				if n%256 == 0 {
					runtime.Gosched() // or every Unregister waits for 64 time slices
				}
			}
		})
	}
	var failures, changes atomic.Int64
	for n := range uint64(stormChanging) {
		changing.Go(func() {
			random := rand.New(rand.NewPCG(seed, stormMarking+n))
			for !stop.Load() {
				if err := oneChange(random, &stormTargets[random.IntN(stormMarkers)], &failures); err != nil {
					t.Error(err)
					return
				}
				changes.Add(1)
			}
		})
	}
	time.Sleep(duration)
	stop.Store(true)
	changing.Wait()
	marking.Wait()
	if n := failures.Load(); n != 0 {
		t.Errorf("%d calls of probes whose Unregister had returned", n)
	}
	var sum int64
	for i := range stormTargets {
		if i%2 == 1 {
			if stormTargets[i].Enabled() {
				t.Errorf("marker %d is still armed", i)
			}
			continue
		}
		sum += calls[i].Load()
		if m, c := marks[i].Load(), calls[i].Load(); m != c {
			t.Errorf("marker %d: %d marks while armed, %d calls", i, m, c)
		}
		if info := stormTargets[i].Info(); info.Hits != uint64(marks[i].Load()) || info.Armed != 1 || info.Nested != 0 || info.Panics != 0 {
			t.Errorf("marker %d: %d marks, %+v", i, marks[i].Load(), info)
		}
	}
	if changes.Load() == 0 || sum == 0 {
		t.Errorf("the storm did not happen: %d changes, %d calls", changes.Load(), sum)
	}
	t.Logf("%d changes during %d calls of the lasting probes in %v", changes.Load(), sum, duration)
}

// oneChange registers a probe, by type or by name, arms, disarms, and unregisters it.
func oneChange(random *rand.Rand, m *marker.Marker2[int, string], failures *atomic.Int64) error {
	var dead atomic.Bool
	called := func(n int) {
		if dead.Load() {
			failures.Add(1)
		}
		if n%8 == 0 {
			runtime.Gosched()
		}
		if dead.Load() {
			failures.Add(1)
		}
	}
	var p *marker.Probe
	var err error
	byName := random.IntN(4) == 0
	arm, disarm := m.Arm, m.Disarm
	if byName {
		name := m.Info().Name
		p, err = marker.Register(name, "n %d s %s", func(ev *marker.Event) {
			if ev.Arg(1).Text() != "text" {
				failures.Add(1)
			}
			called(int(ev.Arg(0).Int()))
		}, nil)
		arm = func() error { return marker.Arm(name) }
		disarm = func() error { return marker.Disarm(name) }
	} else {
		p, err = m.Register(func(n int, s string) {
			if s != "text" {
				failures.Add(1)
			}
			called(n)
		})
	}
	if err != nil {
		return err
	}
	if err := arm(); err != nil {
		return err
	}
	runtime.Gosched()
	if random.IntN(2) == 0 { // either order
		p.Unregister()
		dead.Store(true)
		return disarm()
	}
	err = disarm()
	p.Unregister()
	dead.Store(true)
	return err
}
