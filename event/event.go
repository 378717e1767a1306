package event

import (
	"slices"
	"strings"
	"time"
)

// Point is a named location in a program, a marker or a tracepoint, with the fields of its events.
type Point struct {
	Provider string `json:"provider,omitempty"`
	Name     string `json:"name"`
	// Format is the format string of a marker; "" for tracepoints and for markers of other
	// emitters.
	Format string  `json:"format,omitempty"`
	Fields []Field `json:"fields,omitempty"`
}

// Declared returns the point that is declared as provider:name, or as name alone.
func Declared(name, format string) Point {
	if provider, rest, ok := strings.Cut(name, ":"); ok {
		return Point{Provider: provider, Name: rest, Format: format}
	}
	return Point{Name: name, Format: format}
}

// FullName returns provider:name, or only the name if the provider is unknown.
func (p *Point) FullName() string {
	if p.Provider == "" {
		return p.Name
	}
	return p.Provider + ":" + p.Name
}

// Field returns the index of the field with this name, or -1.
func (p *Point) Field(name string) int {
	for i := range p.Fields {
		if p.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Lookup returns the index of the field with this name, or of the N-th field for argN, or -1.
func (p *Point) Lookup(name string) int {
	i := p.Field(name)
	if n := ArgNumber(name); i < 0 && 0 < n && n <= len(p.Fields) {
		return n - 1
	}
	return i
}

// ArgNumber returns the N of the name argN, which counts from 1, or 0 for other names.
func ArgNumber(name string) int {
	digits, ok := strings.CutPrefix(name, "arg")
	if !ok || len(digits) == 0 || len(digits) > 9 || digits[0] == '0' {
		return 0
	}
	n := 0
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0
		}
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// Event is one hit of one point. It belongs to the caller of the function that filled it in. That
// function documents how long the text of its values is valid.
type Event struct {
	Point *Point
	// Time is nanoseconds on the clock of the event's source: CLOCK_MONOTONIC for running programs.
	Time time.Duration
	PID  int // as this process sees it; 0 when it is not visible from its PID namespace
	TID  int // 0 when not known, as with the agent engine
	// NSPID and NSTID are the IDs of process and thread in their own PID namespace, if that is
	// below the namespace of this process, such as a container's. They are 0 unless requested and
	// different.
	NSPID, NSTID int

	CPU       int     // with the agent engine the Go scheduler's processor, P
	Comm      string  // the name of the thread
	Goroutine int64   // 0 if unknown or not a Go program
	Values    []Value // one for each of Point.Fields
}

// Value returns the value of the field with this name, and false if there is no such field.
func (e *Event) Value(name string) (Value, bool) {
	if i := e.Point.Field(name); i >= 0 && i < len(e.Values) {
		return e.Values[i], true
	}
	return Value{}, false
}

// Clone returns a copy of the event that shares no values or texts with it, but the Point.
func (e *Event) Clone() *Event {
	c := *e
	c.Values = slices.Clone(e.Values)
	for i := range c.Values {
		c.Values[i].text = slices.Clone(c.Values[i].text)
	}
	return &c
}
