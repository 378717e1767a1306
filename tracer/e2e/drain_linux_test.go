package e2e

import (
	"context"
	"errors"
	"io"
	"iter"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer"
)

// drain yields the events of a tracer until its end, which somebody brings about, and expects that none was lost.
func drain(t *testing.T, tr *tracer.Tracer) iter.Seq[*event.Event] {
	t.Helper()
	return func(yield func(*event.Event) bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		var e event.Event
		for {
			err := tr.Read(ctx, &e)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if !yield(e.Clone()) {
				return
			}
		}
		if lost, err := tr.Losses(); source.Total(lost) != 0 || err != nil {
			t.Errorf("lost %d events, %v", source.Total(lost), err)
		}
	}
}
