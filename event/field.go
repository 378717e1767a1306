package event

import "strings"

// Field describes one argument of a point.
type Field struct {
	Name string `json:"name"`           // the word before its verb, or argN, counting from 1
	Type string `json:"type,omitempty"` // the Go type; for other emitters the operand's, such as "int32"
	Kind Kind   `json:"kind,omitempty"` // Invalid when the type is not known or no event has a value
	Verb string `json:"verb,omitempty"` // how the format prints it, "%08lx"; "" for the kind's own way
	// Elem is the kind of the elements of an array or a slice, and Invalid for other fields. The
	// value of an array or slice is the bytes of its elements.
	Elem Kind `json:"elem,omitempty"`
	// Names maps the values of an enumeration, or of elements of its type, to their names.
	Names map[int64]string `json:"names,omitempty"`
	// Offset and Size locate the value in the bytes of the arguments, in bytes. A text has two
	// words there: its kept and its original length. See Decode.
	Offset int `json:"offset,omitempty"`
	Size   int `json:"size,omitempty"`
	// Unavailable is the reason why no event has a value for the field, "" if events do.
	Unavailable Reason `json:"unavailable,omitempty"`
}

// conversion returns the last character of the field's verb, or 'v' if it has no verb.
func (f *Field) conversion() byte {
	if f.Verb == "" {
		return 'v'
	}
	return f.Verb[len(f.Verb)-1]
}

// Reason explains why there is no value. It is an error that consists only of its text, so it
// survives JSON and traces. With errors.Is, a reason also matches each shorter reason that it
// extends: "optimized out: no location at 0x10" is OptimizedOut.
type Reason string

// OptimizedOut is the reason for a variable without a location at that address.
const OptimizedOut Reason = "optimized out"

// ReasonOf returns the text of an error as a reason, or "" for nil.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	return Reason(err.Error())
}

// Error returns the text.
func (r Reason) Error() string { return string(r) }

// Is reports whether target is a reason that r extends.
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
