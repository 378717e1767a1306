// Command storm passes sites of every shape that the compiler makes, on all processors, while two
// patchers toggle them, the collector runs, a profiler interrupts and stacks grow. Every pass
// under a settled state must behave by it. It prints what it did, or what went wrong.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

const workers = 4

// hits are counted by probes, which run on the worker that passes.
var hits [workers]struct {
	n int
	_ [56]byte
}

// A target is a point, how to toggle it, and code that passes it a number of times.
type target struct {
	name    string
	on, off func() error
	pass    func(worker int) (passes, hit int)
	state   atomic.Int64 // odd when settled; then its second bit says on
}

var (
	inLoop    = marker.New1[int]("storm:in_loop", "w %d")
	straight  = marker.New2[int, string]("storm:straight", "w %d s %s")
	guarded   = marker.New1[int]("storm:guarded", "w %d")
	inGeneric = marker.New1[int]("storm:in_generic", "w %d")
	inClosure = marker.New1[int]("storm:in_closure", "w %d")
	inDefer   = marker.New1[int]("storm:in_defer", "w %d")
	inBranch  = marker.New3[int, float64, []byte]("storm:in_branch", "w %d f %g b %s")
	traced    = tracepoint.New2[int, error]("storm:traced")
	branch    = statickey.New("storm:branch")
	onAtFirst = statickey.NewOn("storm:on_at_first")
)

//go:noinline
func loop(w, n int) {
	for range n {
		inLoop.Mark(w)
	}
}

//go:noinline
func straightLine(w int, s string) int {
	n := len(s)
	straight.Mark(w, s)
	n *= 3
	straight.Mark(w, s[:n/4])
	n++
	straight.Mark(w, s)
	return n
}

//go:noinline
func guard(w int) {
	if guarded.Enabled() {
		guarded.Mark(w)
	}
}

//go:noinline
func generic[T any](w int, values []T) (last T) {
	for _, v := range values {
		inGeneric.Mark(w)
		last = v
	}
	return last
}

//go:noinline
func branches(w, n int, f float64, b []byte) float64 {
	switch {
	case n%3 == 0:
		inBranch.Mark(w, f, b)
		return f * 2
	case n%3 == 1:
		f += float64(n)
		inBranch.Mark(w, f, b)
	default:
		inBranch.Mark(w, -f, b[:1])
		f = -f
	}
	return f / 3
}

//go:noinline
func deferred(w int) {
	defer inDefer.Mark(w)
	func() { inDefer.Mark(w) }()
}

// deep grows the stack below a site.
//
//go:noinline
func deep(n, w int) int {
	var room [512]byte
	room[n%len(room)] = byte(n)
	if n > 0 {
		return deep(n-1, w) + int(room[n%len(room)])
	}
	loop(w, 1)
	return 0
}

// add is a call, for the compiler not to turn the branch into arithmetic.
//
//go:noinline
func add(n int) int { return n + 1 }

//go:noinline
func keyed(n int) (taken int) {
	for range n {
		if branch.Enabled() {
			taken = add(taken)
		}
	}
	return taken
}

//go:noinline
func keyedOn(n int) (taken int) {
	for range n {
		if onAtFirst.Enabled() {
			taken = add(taken)
		}
	}
	return taken
}

var errTraced = errors.New("traced")

func targets() []*target {
	probe := func(w int) { hits[w].n++ }
	must := func(_ any, err error) {
		if err != nil {
			panic(err)
		}
	}
	must(inLoop.Register(probe))
	must(straight.Register(func(w int, _ string) { hits[w].n++ }))
	must(guarded.Register(probe))
	must(inGeneric.Register(probe))
	must(inClosure.Register(probe))
	must(inDefer.Register(probe))
	must(inBranch.Register(func(w int, _ float64, _ []byte) { hits[w].n++ }))
	counted := func(name string, m *marker.Marker, passes int, do func(w int)) *target {
		return &target{name: name, on: m.Arm, off: m.Disarm, pass: func(w int) (int, int) {
			before := hits[w].n
			do(w)
			return passes, hits[w].n - before
		}}
	}
	words := []string{"a", "b", "c", "d", "e"}
	text, data := "some text to slice", []byte("bytes")
	var p *tracepoint.Probe
	list := []*target{
		counted("loop", &inLoop.Marker, 100, func(w int) { loop(w, 100) }),
		counted("deep", &inLoop.Marker, 1, func(w int) { deep(50+depths[w].IntN(200), w) }),
		counted("straight", &straight.Marker, 3, func(w int) { straightLine(w, text) }),
		counted("guard", &guarded.Marker, 1, guard),
		counted("generic", &inGeneric.Marker, 8, func(w int) { generic(w, words); generic(w, []int{1, 2, 3}) }),
		counted("closure", &inClosure.Marker, 10, func(w int) {
			for range 10 {
				func() { inClosure.Mark(w) }()
			}
		}),
		counted("defer", &inDefer.Marker, 2, deferred),
		counted("branches", &inBranch.Marker, 9, func(w int) {
			for n := range 9 {
				branches(w, n, 1.5, data)
			}
		}),
		{name: "traced", on: func() (err error) {
			p, err = traced.Register(func(w int, err error) {
				if err == errTraced {
					hits[w].n++
				}
			})
			return err
		}, off: func() error { p.Unregister(); return nil }, pass: func(w int) (int, int) {
			before := hits[w].n
			traced.Trace(w, errTraced)
			return 1, hits[w].n - before
		}},
		{name: "key", on: branch.Enable, off: branch.Disable, pass: func(int) (int, int) { return 50, keyed(50) }},
		{name: "key on", on: onAtFirst.Enable, off: onAtFirst.Disable, pass: func(int) (int, int) { return 50, keyedOn(50) }},
	}
	list[1].on, list[1].off = nil, nil // toggled as "loop"
	for _, t := range list {
		t.state.Store(1)
	}
	list[len(list)-1].state.Store(3)
	return list
}

// depths are the random numbers of each worker.
var depths [workers]*rand.Rand

func main() {
	duration, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	// WAYMARK_SEED repeats a run, as far as threads let it.
	seed := rand.Uint64()
	if s := os.Getenv("WAYMARK_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			panic(err)
		}
	}
	fmt.Printf("WAYMARK_SEED=%d\n", seed)
	for w := range depths {
		depths[w] = rand.New(rand.NewPCG(seed, uint64(w)))
	}
	list := targets()
	var passes, settled, toggles atomic.Int64
	var stop atomic.Bool
	var failure atomic.Pointer[string]
	fail := func(format string, args ...any) {
		s := fmt.Sprintf(format, args...)
		failure.CompareAndSwap(nil, &s)
		stop.Store(true)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				t := list[i%len(list)]
				state := &t.state
				if t.on == nil {
					state = &list[0].state
				}
				before := state.Load()
				n, hit := t.pass(w)
				after := state.Load()
				passes.Add(int64(n))
				if hit > n || before == after && before&1 != 0 && hit != n*int(before>>1&1) {
					fail("%s: %d hits in %d passes, state %d before and %d behind", t.name, hit, n, before, after)
				}
				if before == after && before&1 != 0 {
					settled.Add(1)
				}
				if i%16 == 0 {
					runtime.Gosched() // or the patchers get a turn every 10 ms
				}
			}
		})
	}
	for patcher := range 2 {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(seed, workers+uint64(patcher)))
			for !stop.Load() {
				i := random.IntN(len(list)/2)*2 + patcher
				if i >= len(list) || list[i].on == nil {
					continue
				}
				t := list[i]
				on := t.state.Load()>>1&1 != 0
				t.state.Add(1)
				var err error
				if on {
					err = t.off()
				} else {
					err = t.on()
				}
				if err != nil {
					fail("toggling %s: %v", t.name, err)
					return
				}
				t.state.Add(1)
				toggles.Add(1)
				time.Sleep(time.Duration(random.IntN(100)) * time.Microsecond)
			}
		})
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		panic(err)
	}
	for end := time.Now().Add(duration); time.Now().Before(end) && !stop.Load(); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	pprof.StopCPUProfile()
	stop.Store(true)
	wg.Wait()
	if s := failure.Load(); s != nil {
		fmt.Println(*s)
		os.Exit(1)
	}
	fmt.Println(toggles.Load(), "toggles", passes.Load(), "passes", settled.Load(), "settled rounds")
}
