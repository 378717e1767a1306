package main

import (
	"errors"
	"runtime"
	"strconv"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

// A marker for each case, so that all are on all the time.
var (
	typed      = marker.New2[int, uintptr]("bench:typed", format)
	saving     = marker.New2[int, uintptr]("bench:saving", format)
	two        = marker.New2[int, uintptr]("bench:two", format)
	four       = marker.New2[int, uintptr]("bench:four", format)
	named      = marker.New2[int, uintptr]("bench:named", format)
	namedArgs  = marker.New2[int, uintptr]("bench:named_args", format)
	namedText  = marker.New2[int, uintptr]("bench:named_text", format)
	pointOff   = tracepoint.New2[int, uintptr]("bench:point_off")
	pointOn    = tracepoint.New2[int, uintptr]("bench:point_on")
	keyOff     = statickey.New("bench:key_off")
	keyOn      = statickey.NewOn("bench:key_on")
	savedInt   int
	savedPlace uintptr
	text       []byte
)

//go:noinline
func typedLoop(n int) {
	for i := range n {
		typed.Mark(i, 0)
	}
}

//go:noinline
func savingLoop(n int) {
	for i := range n {
		saving.Mark(i, 0)
	}
}

//go:noinline
func twoLoop(n int) {
	for i := range n {
		two.Mark(i, 0)
	}
}

//go:noinline
func fourLoop(n int) {
	for i := range n {
		four.Mark(i, 0)
	}
}

//go:noinline
func namedLoop(n int) {
	for i := range n {
		named.Mark(i, 0)
	}
}

//go:noinline
func namedArgsLoop(n int) {
	for i := range n {
		namedArgs.Mark(i, 0)
	}
}

//go:noinline
func namedTextLoop(n int) {
	for i := range n {
		namedText.Mark(i, 0)
	}
}

//go:noinline
func pointOffLoop(n int) {
	for i := range n {
		pointOff.Trace(i, 0)
	}
}

//go:noinline
func pointOnLoop(n int) {
	for i := range n {
		pointOn.Trace(i, 0)
	}
}

//go:noinline
func keyOffLoop(n int) {
	for i := range n {
		if keyOff.Enabled() {
			savedInt = i
		}
	}
}

//go:noinline
func keyOnLoop(n int) {
	for i := range n {
		if keyOn.Enabled() {
			savedInt = i
		}
	}
}

func nothing(int, uintptr) {}

func save(n int, at uintptr) { savedInt, savedPlace = n, at }

// connect registers a probe and says how to take it off again.
func connect(m *marker.Marker, p *marker.Probe, err error) (undo func(), _ error) {
	if err != nil {
		return nil, err
	}
	return func() { m.Disarm(); p.Unregister() }, m.Arm()
}

// connectAll switches everything on that is not switched on and off in each round.
func connectAll() (undo func(), err error) {
	var undos []func()
	undo = func() {
		for _, u := range undos {
			u()
		}
	}
	typedProbe := func(m *marker.Marker2[int, uintptr], fn func(int, uintptr)) {
		p, e := m.Register(fn)
		u, e := connect(&m.Marker, p, e)
		undos, err = append(undos, u), errors.Join(err, e)
	}
	namedProbe := func(m *marker.Marker2[int, uintptr], name, format string, fn func(*marker.Event)) {
		p, e := marker.Register(name, format, fn, nil)
		u, e := connect(&m.Marker, p, e)
		undos, err = append(undos, u), errors.Join(err, e)
	}
	typedProbe(&typed, nothing)
	typedProbe(&saving, save)
	for range 2 {
		typedProbe(&two, nothing)
	}
	for range 4 {
		typedProbe(&four, nothing)
	}
	namedProbe(&named, "bench:named", format, func(*marker.Event) {})
	namedProbe(&namedArgs, "bench:named_args", format, func(e *marker.Event) {
		save(int(e.Arg(0).Int()), uintptr(e.Arg(1).Uint()))
	})
	namedProbe(&namedText, "bench:named_text", "", func(e *marker.Event) { text = e.AppendText(text[:0]) })
	p, e := pointOn.Register(nothing)
	if err = errors.Join(err, e); err != nil {
		return nil, err
	}
	undos = append(undos, p.Unregister)
	return undo, nil
}

const (
	emptyName = "empty loop"
	offName   = "marker, off"
	typedName = "marker, empty typed probe"
)

// enabled compares with what else a program can say where it is by, each on and off.
func enabled(c config) ([]result, error) {
	defer runtime.KeepAlive([]any{&savedInt, &savedPlace}) // what is only written would not be
	undo, err := connectAll()
	if err != nil {
		return nil, err
	}
	defer undo()
	loops := []loop{
		{name: emptyName, run: emptyLoop},
		{name: offName, run: offLoop, to: emptyName, over: emptyName, allocs: true},
		{name: typedName, run: typedLoop, to: offName, over: emptyName, allocs: true},
		{name: "marker, typed probe that saves", run: savingLoop, to: typedName, over: emptyName, allocs: true},
		{name: "marker, 2 empty typed probes", run: twoLoop, to: typedName, allocs: true},
		{name: "marker, 4 empty typed probes", run: fourLoop, to: typedName, allocs: true},
		{name: "marker, empty probe by name", run: namedLoop, to: typedName, over: emptyName, allocs: true},
		{name: "marker, probe by name that saves", run: namedArgsLoop, to: typedName, over: emptyName, allocs: true},
		{name: "marker, probe by name that formats", run: namedTextLoop, to: typedName, over: emptyName, allocs: true},
		{name: "tracepoint, off", run: pointOffLoop, to: offName, allocs: true},
		{name: "tracepoint, empty probe", run: pointOnLoop, to: typedName, over: emptyName, allocs: true},
		{name: "static key, off", run: keyOffLoop, to: offName, allocs: true},
		{name: "static key, on", run: keyOnLoop, to: offName, allocs: true},
	}
	workers, skippedCases := startWorkers()
	defer stopWorkers(workers)
	loops = append(loops, peers()...)
	loops = append(loops, threads(workers)...)
	results := interleave(c.roundsOr(loopRounds), loops)
	return append(results, skippedCases...), nil
}

// threadsName names a case on several threads.
func threadsName(what string, threads int) string {
	if threads == 1 {
		return what + ", 1 pinned thread"
	}
	return what + ", " + strconv.Itoa(threads) + " pinned threads"
}
