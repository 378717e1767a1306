package tracer

import (
	"slices"

	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// CheckWhere reports whether a condition can be read, and returns the names in it that the marker has
// no field for: with any, the condition cannot be about it. Without a marker it only reads. The
// empty condition names none. What is wrong with a condition is a *WhereError.
func CheckWhere(where string, m *Marker) (missing []string, err error) {
	if where == "" {
		return nil, nil
	}
	expr, err := filter.Parse(where)
	if err != nil || m == nil {
		return nil, model.ConditionError(err)
	}
	for _, name := range expr.Names() {
		_, ok := keyField(m, name)
		if !ok && name != "gid" && (m.Typed || model.Positional(m, name) == 0) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}
