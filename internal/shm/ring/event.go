package ring

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
)

// Event describes the events of one marker or tracepoint. Its Provider is "" if none was declared.
// Fields without a value have a reason, but no Kind and no bytes. No field has an Elem or Names.
type Event struct {
	event.Point
	Size int `json:"size"` // bytes of the arguments, texts not counted
	// Problem is the reason why its events could not be described and are lost, or "".
	Problem string `json:"problem,omitempty"`

	Number int `json:"-"` // its place in the table
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
		return fmt.Errorf("event %.80q has arguments of %d bytes", e.FullName(), e.Size)
	}
	if len(e.Problem) > maxProblem {
		return fmt.Errorf("event %.80q has a problem of %d bytes", e.FullName(), len(e.Problem))
	}
	if len(e.Fields) > maxFields {
		return fmt.Errorf("event %.80q has %d fields, more than %d", e.FullName(), len(e.Fields), maxFields)
	}
	if err := event.CheckLayout(e.Fields, e.Size, word); err != nil {
		return fmt.Errorf("event %.80q: %w", e.FullName(), err)
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		if len(f.Unavailable) > maxReason {
			return fmt.Errorf("event %.80q: field %.80q is unavailable for a reason of %d bytes", e.FullName(), f.Name, len(f.Unavailable))
		}
		if f.Elem != event.Invalid || f.Names != nil {
			return fmt.Errorf("event %.80q: field %.80q has elements or names of values", e.FullName(), f.Name)
		}
	}
	return nil
}

// Refused describes events that could not be described because of err.
func Refused(name, format string, err error) *Event {
	text := err.Error()
	return &Event{Point: event.Declared(name, format), Problem: strings.ToValidUTF8(text[:min(len(text), maxProblem)], "")}
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
