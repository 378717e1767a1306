package marker_test

import (
	"testing"
	"time"

	"github.com/waymark-trace/waymark/marker"
)

var took = marker.New3[time.Duration, time.Duration, time.Duration]("duration:took", "a %s b %12v c %d")

// A time.Duration is text by %s and %v, and nanoseconds by the verbs of integers.
func TestDuration(t *testing.T) {
	var text string
	p, err := marker.Register("duration:took", "", func(e *marker.Event) {
		text = e.String()
		if v := e.Arg(0); v.Int() != 3_520_000 || v.Any() != 3520*time.Microsecond || v.String() != "3.52ms" {
			t.Errorf("%d, %v, %s", v.Int(), v.Any(), v)
		}
	}, nil)
	must(t, err)
	defer p.Unregister()
	must(t, took.Arm())
	defer took.Disarm()
	took.Mark(3520*time.Microsecond, -time.Second, time.Minute)
	if want := "a 3.52ms b          -1s c 60000000000"; text != want {
		t.Errorf("text %q, want %q", text, want)
	}
}
