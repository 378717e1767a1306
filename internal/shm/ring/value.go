package ring

import (
	"fmt"

	"github.com/waymark-trace/waymark/event"
)

// Values appends the values of the record's fields to v. Texts are part of its Args.
func (rec *Record) Values(v []event.Value) ([]event.Value, error) {
	e := rec.Event
	v, err := event.Decode(v, e.Fields, rec.Args[:e.Size], rec.Args[e.Size:])
	if err != nil {
		return v, fmt.Errorf("event %s: %w", e.FullName(), err)
	}
	return v, nil
}
