// Package tracepoints has what is different with tracepoints.
package tracepoints

import (
	"errors"

	"github.com/waymark-trace/waymark/tracepoint"
)

type point struct{ x, y int }

type named interface{ Name() string }

type thing struct{ name string }

func (t thing) Name() string { return t.name }

var (
	value   = tracepoint.New1[any]("tracepoints:value")
	failure = tracepoint.New2[error, string]("tracepoints:failure")
	place   = tracepoint.New1[point]("tracepoints:place")
	pointer = tracepoint.New1[*point]("tracepoints:pointer")
	call    = tracepoint.New1[func()]("tracepoints:call")
	who     = tracepoint.New1[named]("tracepoints:who")
	badName = tracepoint.New0("trace points") // want `tracepoint "trace points": name "trace points" has " " at byte 5`
	fields  = tracepoint.New2[int, string]("tracepoints:fields", "n", "text")
	few     = tracepoint.New2[int, string]("tracepoints:few", "n")        // want `tracepoint "tracepoints:few": it names 1 of 2 arguments`
	twice   = tracepoint.New2[int, string]("tracepoints:twice", "n", "n") // want `tracepoint "tracepoints:twice": two fields are called n`
	blanks  = tracepoint.New1[int]("tracepoints:blanks", "a b")           // want `tracepoint "tracepoints:blanks": field "a b" has " " at byte 1`
	unmade  tracepoint.Tracepoint0                                        // want `tracepoint that no New made`
)

func costs(i int, s string, p *point, t thing, e error, f func(), yes bool, m map[int]int) {
	value.Trace(i)                  // want `converting i to any costs`
	value.Trace(s)                  // want `converting s to any`
	value.Trace(*p)                 // want `converting \*p to any`
	value.Trace(any(i))             // want `converting i to any`
	who.Trace(t)                    // want `converting t to named`
	who.Trace(named(t))             // want `converting t to named`
	failure.Trace(errors.New(s), s) // want `calling errors.New`
	place.Trace(point{1, i})        // want `building point`
	pointer.Trace(&point{})         // want `allocating point`
	call.Trace(func() { i++ })      // want `making a closure`
	who.Trace(e.(named))            // want `asserting an interface`
	value.Trace(e.Error)            // want `making the method value e.Error`

	value.Trace(p)
	value.Trace(m)
	value.Trace(3)
	value.Trace("x")
	value.Trace(nil)
	value.Trace(e)
	value.Trace(yes)
	value.Trace(struct{}(struct{}{})) // want `building struct{}`
	failure.Trace(e, s)
	place.Trace(*p)
	call.Trace(f)
	call.Trace(func() { println(value.Enabled()) })
	if value.Enabled() {
		value.Trace(i)
	}
}

func escapes(p point) {
	local := tracepoint.New0("tracepoints:local") // want `tracepoint "tracepoints:local": made in a function`
	local.Trace()
	pointer.Trace(&p) // want `&p makes the local variable p escape`
	value.Trace(&p)   // want `&p makes the local variable p escape`
}
