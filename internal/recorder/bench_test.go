package recorder_test

import (
	"testing"

	"github.com/waymark-trace/waymark/internal/recorder"
	"github.com/waymark-trace/waymark/internal/ring"
	"github.com/waymark-trace/waymark/marker"
)

var (
	benchTwo  = marker.New2[int, uint64]("recbench:two", "a %d b %d")
	benchText = marker.New2[int, string]("recbench:text", "a %d s %s")
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
	} {
		b.Run(bm.name, func(b *testing.B) {
			name := "recbench:two"
			if bm.name == "text" {
				name = "recbench:text"
			}
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
