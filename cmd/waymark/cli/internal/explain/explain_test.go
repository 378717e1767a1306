package explain

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/link"
)

// Every sentinel has a hint, in the form that messages have.
func TestHints(t *testing.T) {
	for _, err := range []error{
		tracer.ErrNotSupported, tracer.ErrNoProcess, tracer.ErrChanged, tracer.ErrCounterConflict,
		link.ErrNotELF, link.ErrNotGo, link.ErrNotExecutable, link.ErrArchitecture, link.ErrNoMarkers, link.ErrNoRecords, link.ErrMadeLate,
		link.ErrVersion, link.ErrLayout, link.ErrMarker, link.ErrTooMany,
	} {
		_, hint := Error(fmt.Errorf("linking x: %w", err))
		if hint == "" || strings.HasSuffix(hint, ".") {
			t.Errorf("%v: hint %q", err, hint)
		}
	}
}
