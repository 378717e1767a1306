package main

import (
	"fmt"
	"sync/atomic"

	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/statickey"
	"github.com/waymark-trace/waymark/tracepoint"
)

// A marker for each way of connecting a probe, so that all can be on at once.
var (
	lone      = marker.New2[int, uintptr]("bench:lone", format) // armed, with no probe
	typed     = marker.New2[int, uintptr]("bench:typed", format)
	saving    = marker.New2[int, uintptr]("bench:saving", format)
	two       = marker.New2[int, uintptr]("bench:two", format)
	four      = marker.New2[int, uintptr]("bench:four", format)
	named     = marker.New2[int, uintptr]("bench:named", format)
	namedSave = marker.New2[int, uintptr]("bench:named_save", format)
	parsing   = marker.New2[int, uintptr]("bench:parsing", format)
	printing  = marker.New2[int, uintptr]("bench:printing", format)
	point     = tracepoint.New2[int, uintptr]("bench:point")
	pointOff  = tracepoint.New2[int, uintptr]("bench:point_off")
	keyOff    = statickey.New("bench:key_off")
	keyOn     = statickey.NewOn("bench:key_on")
	keyCall   = statickey.New("bench:key_call")
	keyBoxed  = statickey.New("bench:key_boxed")
	opened    = marker.New2[int, uintptr]("bench:opened", format)

	savedInt   int
	savedPlace uintptr
	text       []byte

	// What a key guards in the loops that do without Unregister's guarantee.
	call  atomic.Pointer[func(int, uintptr)]
	boxed atomic.Pointer[func(string, ...any)]
)

var enabled = map[string]func(int){
	"lone":      loneLoop,
	"typed":     typedLoop,
	"saving":    savingLoop,
	"two":       twoLoop,
	"four":      fourLoop,
	"named":     namedLoop,
	"namedSave": namedSaveLoop,
	"parsing":   parsingLoop,
	"printing":  printingLoop,
	"point":     pointLoop,
	"pointOff":  pointOffLoop,
	"keyOff":    keyOffLoop,
	"keyOn":     keyOnLoop,
	"keyCall":   keyCallLoop,
	"keyBoxed":  keyBoxedLoop,
	"oneByte":   oneByteLoop,
	"stepped":   steppedLoop,
}

func loopsOf(name string) []func(int) {
	if l := copies[name]; l != nil {
		return l
	}
	if l := enabled[name]; l != nil {
		return []func(int){l}
	}
	if l := others[name]; l != nil {
		return []func(int){l}
	}
	return nil
}

// open is the function that source 004 disassembles.
//
//go:noinline
func open(inode int, file uintptr) int {
	opened.Mark(inode, file)
	return -1 // EPERM
}

//go:noinline
func loneLoop(n int) {
	for i := range n {
		lone.Mark(i, 0)
	}
}

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
func namedSaveLoop(n int) {
	for i := range n {
		namedSave.Mark(i, 0)
	}
}

//go:noinline
func parsingLoop(n int) {
	for i := range n {
		parsing.Mark(i, 0)
	}
}

//go:noinline
func printingLoop(n int) {
	for i := range n {
		printing.Mark(i, 0)
	}
}

//go:noinline
func pointLoop(n int) {
	for i := range n {
		point.Trace(i, 0)
	}
}

//go:noinline
func pointOffLoop(n int) {
	for i := range n {
		pointOff.Trace(i, 0)
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

//go:noinline
func keyCallLoop(n int) {
	for i := range n {
		if keyCall.Enabled() {
			(*call.Load())(i, 0)
		}
	}
}

//go:noinline
func keyBoxedLoop(n int) {
	for i := range n {
		if keyBoxed.Enabled() {
			(*boxed.Load())(format, i, uintptr(0))
		}
	}
}

//go:noinline
func oneByteLoop(n int) {
	for range n {
		oneByte()
	}
}

//go:noinline
func steppedLoop(n int) {
	for range n {
		stepped()
	}
}

func nothing(int, uintptr) {}

func save(n int, at uintptr) { savedInt, savedPlace = n, at }

// saveParsed finds out from the format what there is to save, each time.
func saveParsed(e *marker.Event) {
	format, arg := e.Format(), 0
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch format[i] {
		case 'd':
			savedInt = int(e.Arg(arg).Int())
		case 'p':
			savedPlace = uintptr(e.Arg(arg).Uint())
		}
		arg++
	}
}

// connections are what arm connects, by name: undone by what they return.
var connections = map[string]func() (undo func() error, err error){
	"lone":     func() (func() error, error) { return lone.Disarm, lone.Arm() },
	"typed":    typedProbe(&typed, nothing, 1),
	"saving":   typedProbe(&saving, save, 1),
	"two":      typedProbe(&two, nothing, 2),
	"four":     typedProbe(&four, nothing, 4),
	"named":    namedProbe(&named.Marker, "bench:named", func(*marker.Event) {}),
	"parsing":  namedProbe(&parsing.Marker, "bench:parsing", saveParsed),
	"printing": namedProbe(&printing.Marker, "bench:printing", func(e *marker.Event) { text = e.AppendText(text[:0]) }),
	"namedSave": namedProbe(&namedSave.Marker, "bench:named_save", func(e *marker.Event) {
		save(int(e.Arg(0).Int()), uintptr(e.Arg(1).Uint()))
	}),
	"point": func() (func() error, error) {
		p, err := point.Register(nothing)
		return func() error { p.Unregister(); return nil }, err
	},
	"keyCall": func() (func() error, error) {
		fn := nothing
		call.Store(&fn)
		return keyCall.Disable, keyCall.Enable()
	},
	"keyBoxed": func() (func() error, error) {
		fn := func(string, ...any) {}
		boxed.Store(&fn)
		return keyBoxed.Disable, keyBoxed.Enable()
	},
	"open":         typedProbe(&opened, func(n int, at uintptr) { passed++ }, 1),
	"runtimeTrace": tracing,
}

func typedProbe(m *marker.Marker2[int, uintptr], fn func(int, uintptr), probes int) func() (func() error, error) {
	return func() (func() error, error) {
		var all []*marker.Probe
		undo := func() error {
			for _, p := range all {
				p.Unregister()
			}
			return m.Disarm()
		}
		for range probes {
			p, err := m.Register(fn)
			if err != nil {
				return undo, err
			}
			all = append(all, p)
		}
		return undo, m.Arm()
	}
}

func namedProbe(m *marker.Marker, name string, fn func(*marker.Event)) func() (func() error, error) {
	return func() (func() error, error) {
		p, err := marker.Register(name, format, fn, nil)
		if err != nil {
			return nil, err
		}
		return func() error { p.Unregister(); return m.Disarm() }, m.Arm()
	}
}

var connected = make(map[string]func() error)

func arm(name string) error {
	connect := connections[name]
	if connect == nil || connected[name] != nil {
		return errCommand
	}
	undo, err := connect()
	if err != nil {
		return fmt.Errorf("arming %s: %w", name, err)
	}
	connected[name] = undo
	return nil
}

func disarm(name string) error {
	undo := connected[name]
	if undo == nil {
		return errCommand
	}
	delete(connected, name)
	return undo()
}

// What is only written would not be, nor what is never called.
var kept = []any{&savedInt, &savedPlace, &text, &passed, &worked, open}
