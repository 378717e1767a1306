package event

import "strings"

// Field describes one argument of a point.
type Field struct {
	Name string `json:"name"`           // the word before its verb, or argN, counting from 1
	Type string `json:"type,omitempty"` // the Go type; for other emitters the operand's, such as "int32"
	Kind Kind   `json:"kind,omitempty"` // Invalid when the type is not known or no event has a value
	Verb string `json:"verb,omitempty"` // how the format prints it, "%08lx"; "" for the kind's own way
	// Elem is the kind of the elements of an array or a slice, whose bytes are then its value, and
	// Invalid for others.
	Elem Kind `json:"elem,omitempty"`
	// Names are the names of the values of an enumeration, or of such elements.
	Names map[int64]string `json:"names,omitempty"`
	// Offset and Size are where the value lies in the bytes of the arguments, in bytes. A text has
	// two words there: how many of its bytes were kept, and how many there were. See Decode.
	Offset int `json:"offset,omitempty"`
	Size   int `json:"size,omitempty"`
	// Unavailable is the reason why no event has a value for it, "" when events do.
	Unavailable Reason `json:"unavailable,omitempty"`
}

// conversion returns the conversion that the field's verb ends with, 'v' when there is none.
func (f *Field) conversion() byte {
	if f.Verb == "" {
		return 'v'
	}
	return f.Verb[len(f.Verb)-1]
}

// Reason is why there is no value. It is an error that consists of its text, so that it survives
// JSON and traces. With errors.Is, a reason is also each shorter reason that it elaborates:
// "optimized out: no location at 0x10" is OptimizedOut.
type Reason string

// OptimizedOut is the reason for variables that the compiler keeps nowhere at that address.
const OptimizedOut Reason = "optimized out"

// ReasonOf returns the text of an error as a reason, "" for nil.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	return Reason(err.Error())
}

// Error returns the text.
func (r Reason) Error() string { return string(r) }

// Is reports whether target is a reason that r elaborates.
func (r Reason) Is(target error) bool {
	t, ok := target.(Reason)
	rest, begins := strings.CutPrefix(string(r), string(t))
	return ok && begins && (rest == "" || t != "" && strings.IndexByte(": ", rest[0]) >= 0)
}

// Err returns the reason as an error, nil for "".
func (r Reason) Err() error {
	if r == "" {
		return nil
	}
	return r
}
