package recorder

import (
	"testing"

	"github.com/waymark-trace/waymark/internal/clock"
	"github.com/waymark-trace/waymark/internal/inproc/point"
)

func BenchmarkStamp(b *testing.B) {
	s := clock.StampOf(clock.Best(), point.G)
	for b.Loop() {
		s()
	}
}
func BenchmarkPin(b *testing.B) {
	for b.Loop() {
		procPin()
		procUnpin()
	}
}
