package source

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/waymark-trace/waymark/event"
)

// Events reads a source to its end, for a range loop. It yields an error once at most, as the last
// element and without an event; io.EOF ends the loop without one. The event is the same for all
// elements: Read fills it in again.
func Events(ctx context.Context, s Source) iter.Seq2[*event.Event, error] {
	return func(yield func(*event.Event, error) bool) {
		var e event.Event
		for {
			err := s.Read(ctx, &e)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&e, nil) {
				return
			}
		}
	}
}
