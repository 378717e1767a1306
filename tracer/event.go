package tracer

import (
	"time"

	"github.com/waymark-trace/waymark/event"
)

// Event is one hit of one marker. It belongs to the caller.
type Event struct {
	Time      time.Time
	Monotonic time.Duration // CLOCK_MONOTONIC at the hit
	PID       int           // as this process sees it; 0 when it is not visible from its PID namespace
	TID       int           // 0 when not known, as with the agent engine
	// OwnPID and OwnTID are the numbers that process and thread have where they run, in a PID
	// namespace below that of this process, such as a container's: Options.OwnPIDs. 0 for others.
	OwnPID, OwnTID int

	CPU       int // with the agent engine the Go scheduler's processor, P
	Comm      string
	Goroutine int64 // 0 when not a Go program or not known
	Marker    *Marker
	Values    []Value // one per Marker.Fields
}

// Value is the value of one field. Which member holds it follows from its kind: Field.KindOf.
type Value struct {
	// Kind is field.Invalid unless the field's kind cannot hold the value: the sites of one
	// marker can pass different types, such as int64 and uint64, that have none in common.
	Kind event.Kind
	// Bits holds integers (extended to 64 bits by sign), booleans, pointers and raw float bits.
	Bits uint64
	// Text holds the bytes of a string or []byte, cut to the option's limit.
	Text []byte
	// Len is the length of the original string or []byte, of which Text is a prefix; -1 when Text
	// was cut and nothing but a NUL far away says how long it is.
	Len int
	// Err says why this event has no value: memory that could not be read, an operand that
	// cannot be expressed.
	Err error
}

// KindOf returns the kind of a value of the field.
func (f *Field) KindOf(v *Value) event.Kind {
	if v.Kind != event.Invalid {
		return v.Kind
	}
	return f.Kind
}
