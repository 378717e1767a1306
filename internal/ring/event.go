package ring

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
)

// Event describes the events of one marker.
type Event struct {
	Name   string  `json:"name"` // provider:name, as declared
	Format string  `json:"format"`
	Fields []Field `json:"fields,omitempty"`
	Size   int     `json:"size"` // bytes of the arguments, texts not counted
	// Problem says why its events are lost, all of them: they could not be described. "" for others.
	Problem string `json:"problem,omitempty"`

	Number int `json:"-"` // its place in the table
}

// Field describes an argument.
type Field struct {
	Name string     `json:"name"`
	Type string     `json:"type"` // its Go type
	Verb string     `json:"verb,omitempty"`
	Kind event.Kind `json:"kind,omitempty"`
	// Unavailable says why events have no value for it: one has no Kind and no bytes then.
	Unavailable string `json:"unavailable,omitempty"`
	// Offset is where its value lies in the arguments, and Size how long it is. Of a text two words lie
	// there: how many of its bytes were kept, and how many it had. The bytes of all texts follow
	// the values, in the order of the fields.
	Offset int `json:"offset"`
	Size   int `json:"size"`
}

// Limits of descriptions.
const (
	maxDescription = 64 << 10
	maxFields      = 64
	maxArguments   = 4096 // bytes without texts
	maxReason      = 80   // bytes of Field.Unavailable, which traces have in every event
	maxProblem     = 1024
)

// check bounds what may come from a file; word is the size of a pointer in the target.
func (e *Event) check(word int) error {
	if e.Size < 0 || e.Size > maxArguments || e.Size%8 != 0 {
		return fmt.Errorf("event %.80q has arguments of %d bytes", e.Name, e.Size)
	}
	if len(e.Problem) > maxProblem {
		return fmt.Errorf("event %.80q has a problem of %d bytes", e.Name, len(e.Problem))
	}
	if len(e.Fields) > maxFields {
		return fmt.Errorf("event %.80q has %d fields, more than %d", e.Name, len(e.Fields), maxFields)
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		if (f.Kind == event.Invalid) != (f.Unavailable != "") || f.Kind > event.Pointer {
			return fmt.Errorf("field %.80q of event %.80q has no kind", f.Name, e.Name)
		}
		if len(f.Unavailable) > maxReason {
			return fmt.Errorf("field %.80q of event %.80q is unavailable for a reason of %d bytes", f.Name, e.Name, len(f.Unavailable))
		}
		want := SizeOf(f.Kind, word)
		if f.Size != want || f.Offset < 0 || f.Offset > e.Size-want {
			return fmt.Errorf("field %.80q of event %.80q has %d bytes at %d of %d", f.Name, e.Name, f.Size, f.Offset, e.Size)
		}
	}
	return nil
}

// SizeOf returns the bytes that a value of a kind takes where a pointer takes word bytes.
func SizeOf(k event.Kind, word int) int {
	switch k {
	case event.Int, event.Uint, event.Uintptr, event.Pointer:
		return word
	case event.String:
		return 2 * word
	case event.Bytes:
		return 3 * word
	}
	return k.Size()
}

// Refused describes events that could not be described because of err.
func Refused(name, format string, err error) *Event {
	text := err.Error()
	return &Event{Name: name, Format: format, Problem: strings.ToValidUTF8(text[:min(len(text), maxProblem)], "")}
}

func decodeEvent(text []byte, number, word int) (*Event, error) {
	e := &Event{}
	if err := json.Unmarshal(text, e); err != nil {
		return nil, fmt.Errorf("description of event %d: %w", number, err)
	}
	e.Number = number
	return e, e.check(word)
}

var errTable = errors.New("the table of events is full")
