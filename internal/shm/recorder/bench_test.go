package recorder_test

import (
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracepoint"
)

var (
	benchTwo  = marker.New2[int, uint64]("recbench:two", "a %d b %d")
	benchText = marker.New2[int, string]("recbench:text", "a %d s %s")

	benchTyped  = tracepoint.New2[int, *int]("recbench:typed", "a", "at")
	benchPartly = tracepoint.New3[int, any, *int]("recbench:partly", "a", "any", "at")
)

// scripts/bench record compares this with other tools; here is where to look at one part of it.
func BenchmarkRecord(b *testing.B) {
	const text = "0123456789abcdef0123456789abcdef"
	for _, bm := range []struct {
		name, where string
		pass        func(i int)
	}{
		{"two", "", func(i int) { benchTwo.Mark(i, 7) }},
		{"two,failing", "a < 0", func(i int) { benchTwo.Mark(i, 7) }},
		{"two,passing", "a >= 0", func(i int) { benchTwo.Mark(i, 7) }},
		{"text", "", func(i int) { benchText.Mark(i, text) }},
		{"typed", "", func(i int) { benchTyped.Trace(i, nil) }},
		{"partly", "", func(i int) { benchPartly.Trace(i, nil, nil) }},
	} {
		b.Run(bm.name, func(b *testing.B) {
			name, _, _ := strings.Cut("recbench:"+bm.name, ",")
			s, err := recorder.Start(recorder.Options{Name: "bench", Patterns: []string{name}, Mode: ring.Overwrite, Where: bm.where, Size: 4 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Stop()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				bm.pass(i)
			}
		})
	}
}
