package event

import "time"

// Point is one named place in a program, a marker or a tracepoint, and what its events carry.
type Point struct {
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name"`
	// Format is the format string of a marker; "" for tracepoints and for markers of other emitters.
	Format string  `json:"format,omitempty"`
	Fields []Field `json:"fields,omitempty"`
}

// FullName returns provider:name, or the name alone when the provider is not known.
func (p *Point) FullName() string {
	if p.Provider == "" {
		return p.Name
	}
	return p.Provider + ":" + p.Name
}

// Field returns the index of the field of this name, -1 when there is none.
func (p *Point) Field(name string) int {
	for i := range p.Fields {
		if p.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Event is one hit of one point. It belongs to the caller of the function that filled it in; the
// text of its values is valid as long as that function documents.
type Event struct {
	Point *Point
	// Time is nanoseconds on the clock of the event's source: CLOCK_MONOTONIC for running programs.
	Time time.Duration
	PID  int // as this process sees it; 0 when it is not visible from its PID namespace
	TID  int // 0 when not known, as with the agent engine
	// NSPID and NSTID are the numbers that process and thread have in their own PID namespace, where
	// that is below the one of this process, such as a container's. 0 when not asked for, or the same.
	NSPID, NSTID int

	CPU       int     // with the agent engine the Go scheduler's processor, P
	Comm      string  // the name of the thread
	Goroutine int64   // 0 when not a Go program or not known
	Values    []Value // one for each of Point.Fields
}

// Value returns the value of the field of this name, and false when there is no such field.
func (e *Event) Value(name string) (Value, bool) {
	if i := e.Point.Field(name); i >= 0 && i < len(e.Values) {
		return e.Values[i], true
	}
	return Value{}, false
}
