package marker_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/waymark-trace/waymark/marker"
)

var (
	moved  = marker.New4[string, int, []byte, string]("event:moved", "path %s n %d data %s name %s")
	kept   = marker.New2[string, int]("event:kept", "path %s n %d")
	ends   = marker.New1[string]("event:ends", "path %s")
	narrow = marker.New3[bool, int32, int8]("event:narrow", "ok %t n %d m %d")
)

// growStack makes the stack grow, so that it moves.
func growStack(n int) int {
	var room [256]byte
	room[n%len(room)] = 1
	if n == 0 {
		return int(room[0])
	}
	return growStack(n-1) + int(room[n%len(room)])
}

// The record lies on the stack of Mark: an event must be the same after that stack moved, after
// garbage was collected, and to another goroutine that is handed it during the call.
func TestEventWhileTheStackMoves(t *testing.T) {
	var wrong sync.Map
	check := func(when string, e *marker.Event, want string) {
		if got := e.String(); got != want {
			wrong.Store(when, got+", want "+want)
		}
	}
	p, err := marker.Register("event:moved", "", func(e *marker.Event) {
		n := e.Arg(1).Int()
		want := fmt.Sprintf("path /%d n %d data %s name n%d", n, n, strings.Repeat("d", int(n)), n)
		check("at first", e, want)
		growStack(100 + int(n)*10)
		check("after the stack grew", e, want)
		runtime.GC()
		check("after a collection", e, want)
		done := make(chan string)
		go func() {
			growStack(50)
			check("elsewhere", e, want)
			done <- e.Arg(0).Text()
		}()
		text := <-done
		growStack(1000)
		if runtime.GC(); text != fmt.Sprintf("/%d", n) {
			wrong.Store("a string that was kept", text)
		}
	}, nil)
	must(t, err)
	defer p.Unregister()
	must(t, moved.Arm())
	defer moved.Disarm()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 8 {
				n := 8*g + i
				//waymark:ignore it is armed
				moved.Mark(fmt.Sprintf("/%d", n), n, []byte(strings.Repeat("d", n)), fmt.Sprint("n", n))
			}
		})
	}
	wg.Wait()
	wrong.Range(func(when, got any) bool {
		t.Errorf("%s: %s", when, got)
		return true
	})
}

// An event that a probe keeps against the rules holds nothing of the arguments afterwards,
// however the call ended.
func TestEventAfterTheCall(t *testing.T) {
	marker.OnProblem(func(error) {})
	defer marker.OnProblem(nil)
	for how, end := range map[string]func(){
		"returned": func() {},
		"panicked": func() { panic("no") },
		"exited":   runtime.Goexit,
	} {
		t.Run(how, func(t *testing.T) {
			var e *marker.Event
			p, err := marker.Register("event:ends", "", func(ev *marker.Event) {
				e = ev
				if ev.Arg(0).Text() != "/freed" || ev.Data() != "data" {
					t.Errorf("event %q, data %v", ev, ev.Data())
				}
				end()
			}, "data")
			must(t, err)
			defer p.Unregister()
			must(t, ends.Arm())
			defer ends.Disarm()
			freed := make(chan bool)
			done := make(chan bool)
			go func() {
				defer close(done)
				markFreed(freed)
			}()
			<-done
			if e.Len() != 1 || e.Arg(0) != (marker.Value{}) || e.Data() != nil || e.Name() != "event:ends" {
				t.Errorf("after the call: %d arguments, %q, data %v", e.Len(), e, e.Data())
			}
			_ = e.String() // is of no use, and harmless
			for {
				runtime.GC()
				select {
				case <-freed:
					runtime.KeepAlive(e)
					return
				default:
					runtime.Gosched()
				}
			}
		})
	}
}

// markFreed marks ends with a string, and closes freed once that is garbage.
//
//go:noinline
func markFreed(freed chan bool) {
	data := []byte("/freed, and so long that it is an object of its own")
	runtime.AddCleanup(&data[0], func(freed chan bool) { close(freed) }, freed)
	ends.Mark(unsafe.String(&data[0], len("/freed")))
}

// One goroutine may use one event for several markers with different records.
func TestEventsOfSeveralMarkers(t *testing.T) {
	var got []string
	for _, m := range []*marker.Marker{&kept.Marker, &narrow.Marker} {
		p, err := marker.Register(m.Name(), "", func(e *marker.Event) { got = append(got, e.Name()+" "+e.String()) }, nil)
		must(t, err)
		defer p.Unregister()
		must(t, m.Arm())
		defer m.Disarm()
	}
	kept.Mark("/x", -1)
	narrow.Mark(true, -2, -3)
	kept.Mark("", 4)
	narrow.Mark(false, 5, 6)
	want := "event:kept path /x n -1; event:narrow ok true n -2 m -3; event:kept path  n 4; event:narrow ok false n 5 m 6"
	if s := strings.Join(got, "; "); s != want {
		t.Errorf("events %s\nwant   %s", s, want)
	}
}

func TestEventsAllocateNothing(t *testing.T) {
	sum := 0
	for _, m := range []*marker.Marker{&kept.Marker, &narrow.Marker} {
		p, err := marker.Register(m.Name(), "", func(e *marker.Event) {
			for i := range e.Len() {
				sum += len(e.Arg(i).Text()) + int(e.Arg(i).Int())
			}
		}, nil)
		must(t, err)
		defer p.Unregister()
		must(t, m.Arm())
		defer m.Disarm()
	}
	if a := testing.AllocsPerRun(1000, func() {
		kept.Mark("/x", 1)
		narrow.Mark(true, -2, 3)
	}); a != 0 {
		t.Errorf("marking two markers by name allocates %v times", a)
	}
	if sum != 1001*(2+1-2+3) {
		t.Errorf("sum %d", sum)
	}
}
