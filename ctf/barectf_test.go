package ctf_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/waymark-trace/waymark/ctf"
)

// TestBarectf reads traces of a bare processor, of both byte orders: packed bits, times of 32 bits that
// wrap, and a stream with times only at the ends of packets. babeltrace2 agrees on every event.
func TestBarectf(t *testing.T) {
	for _, order := range []string{"little", "big"} {
		t.Run(order, func(t *testing.T) {
			dir := filepath.Join("testdata", "barectf", order)
			trace, err := ctf.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			lines := 0
			readAll(t, ctf.NewReader(trace), func(_ int, e *ctf.Event) {
				got = append(got, pretty(e))
				if e.Class.Name != "line" {
					return
				}
				if want := fmt.Sprintf("line %d\t", lines); string(e.Payload.Elems[0].Text[:len(want)]) != want {
					t.Errorf("line %d is %q", lines, e.Payload.Elems[0].Text)
				}
				lines++
			})
			var lost uint64
			for _, s := range trace.Streams {
				lost += s.Discarded()
			}
			// main.c goes round 60 times, and traces 4 samples and a line each time.
			if samples := len(got) - lines; lines != 60 || uint64(samples)+lost != 4*60 || lost == 0 {
				t.Errorf("%d lines, %d samples, %d lost", lines, samples, lost)
			}

			want := babeltrace2(t, dir, "--clock-seconds", "--no-delta")
			agree(t, got, want)
		})
	}
}
