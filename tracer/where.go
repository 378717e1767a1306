package tracer

import (
	"errors"
	"slices"

	"github.com/waymark-trace/waymark/internal/filter"
)

// WhereError says what is wrong with Options.Where.
type WhereError struct {
	Column int // from 1, in characters; 0 when it is about no place
	Hint   string
	err    error
}

func (e *WhereError) Error() string { return "condition, " + e.err.Error() }

func (e *WhereError) Unwrap() error { return e.err }

// CheckWhere reports whether a condition can be read. Whether markers have the fields that it names
// is known when it is attached.
func CheckWhere(where string) error {
	if where == "" {
		return nil
	}
	_, err := filter.Parse(where)
	return whereError(err)
}

// MissingWhere returns the names in a condition that a marker has no field for: with any, Options.Where cannot be
// about it. The empty condition names none, and so does one that cannot be read.
func MissingWhere(m *Marker, where string) (names []string) {
	if where == "" {
		return nil
	}
	expr, err := filter.Parse(where)
	if err != nil {
		return nil
	}
	for _, name := range expr.Names() {
		_, ok := m.keyField(name)
		if !ok && name != "gid" && (m.Typed || m.positional(name) == 0) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func whereError(err error) error {
	var e *filter.Error
	if !errors.As(err, &e) {
		return err
	}
	return &WhereError{Column: e.Column, Hint: e.Hint, err: err}
}
