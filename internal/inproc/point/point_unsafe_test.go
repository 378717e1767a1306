package point

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// Data without pointers lies elsewhere.
type scannable struct {
	armed uint64
	magic [2]uint64
	_     *int
}

var (
	scanned = scannable{magic: [2]uint64{0x1122334455667788, 0x99aabbccddeeff00}}
	zeroed  scannable
)

func TestScan(t *testing.T) {
	count := func(magic [2]uint64, at unsafe.Pointer) (n, here int) {
		Scan(magic, func(p unsafe.Pointer, initialized bool) {
			n++
			if p == at && initialized == (at == unsafe.Pointer(&scanned)) {
				here++
			}
		})
		return n, here
	}
	if n, here := count(scanned.magic, unsafe.Pointer(&scanned)); n != 1 || here != 1 {
		t.Errorf("%d places in initialized data, %d of them right", n, here)
	}
	zeroed.magic = [2]uint64{0x0102030405060708, uint64(time.Now().UnixNano())}
	if n, here := count(zeroed.magic, unsafe.Pointer(&zeroed)); here != 1 {
		t.Errorf("%d places in zeroed data, %d of them right", n, here)
	}
}

// Every goroutine has a record of its own, also while the table grows under it.
func TestRecords(t *testing.T) {
	const goroutines = 2000
	var s State
	var records sync.Map
	var wrong atomic.Int64
	start := make(chan bool)
	var inside, done sync.WaitGroup
	inside.Add(goroutines)
	for range goroutines {
		done.Go(func() {
			c := s.Enter()
			own := find(getg())
			if c == nil || own == nil || own.g != getg() || !c.of(&s) || !own.has(c) {
				wrong.Add(1)
			}
			if _, dup := records.LoadOrStore(c, true); dup {
				wrong.Add(1)
			}
			inside.Done()
			<-start
			if find(getg()) != own || !InsideProbe() {
				wrong.Add(1)
			}
			c.Leave()
			if InsideProbe() {
				wrong.Add(1)
			}
		})
	}
	inside.Wait()
	close(start)
	done.Wait()
	if wrong.Load() != 0 {
		t.Errorf("%d wrong records", wrong.Load())
	}
	if h := s.Hits(); h != goroutines {
		t.Errorf("%d hits, want %d", h, goroutines)
	}
}

func (c *caller) has(call *Call) bool {
	for i := range c.calls {
		if &c.calls[i] == call {
			return true
		}
	}
	return false
}

// Hits of many points on one goroutine share its few tallies, and none is lost.
func TestHitsOfManyPoints(t *testing.T) {
	states := make([]State, 100)
	for round := range 50 {
		for i := range states {
			for range i % 7 {
				states[i].Count()
			}
			if round%2 == 0 {
				states[i].Enter().Leave()
			}
		}
	}
	for i := range states {
		if h, want := states[i].Hits(), uint64(50*(i%7)+25); h != want {
			t.Errorf("point %d: %d hits, want %d", i, h, want)
		}
	}
}

// wait returns although the caller always comes back, and not before it has left.
func TestWaitIsNotStarved(t *testing.T) {
	var s State
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for !stop.Load() {
			s.Enter().Leave()
		}
	})
	for range 1000 {
		s.wait()
	}
	stop.Store(true)
	wg.Wait()

	entered, leave := make(chan bool), make(chan bool)
	var left atomic.Bool
	wg.Go(func() {
		c := s.Enter()
		entered <- true
		<-leave
		left.Store(true)
		c.Leave()
	})
	<-entered
	go func() {
		time.Sleep(20 * time.Millisecond)
		close(leave)
	}()
	s.wait()
	if !left.Load() {
		t.Error("wait returned while a call was in progress")
	}
	wg.Wait()
}

func TestDepthIsBounded(t *testing.T) {
	states := make([]State, maxDepth+1)
	var calls []*Call
	for i := range states {
		c := states[i].Enter()
		if (c == nil) != (i == maxDepth) {
			t.Fatalf("entering at depth %d: %v", i, c)
		}
		if c != nil {
			calls = append(calls, c)
		}
	}
	for _, c := range calls {
		c.Leave()
	}
	if states[maxDepth].Nested() != 1 || states[0].Nested() != 0 {
		t.Error("the refused pass is not counted, or another is")
	}
}
