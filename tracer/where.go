package tracer

import (
	"slices"

	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// CheckWhere reports whether a condition can be read. Whether markers have the fields that it names
// is known when it is attached.
func CheckWhere(where string) error {
	if where == "" {
		return nil
	}
	_, err := filter.Parse(where)
	return model.ConditionError(err)
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
		_, ok := keyField(m, name)
		if !ok && name != "gid" && (m.Typed || model.Positional(m, name) == 0) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
