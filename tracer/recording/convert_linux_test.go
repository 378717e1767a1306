package recording_test

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/waymark-trace/waymark/internal/shm/recorder"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracer/client"
	"github.com/waymark-trace/waymark/tracer/recording"
)

// cpuTime returns the CPU time of the process in nanoseconds, in user mode and in the kernel.
func cpuTime(b *testing.B) (user, system int64) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano(), u.Stime.Nano()
}

var (
	two  = marker.New2[int, int64]("convert:two", "a %d b %d")
	text = marker.New2[int, string]("convert:text", "a %d s %s")
)

// BenchmarkWrite writes rings of events as a trace: CPU time of an event.
func BenchmarkWrite(b *testing.B) {
	for name, mark := range map[string]func(i int){
		"numbers": func(i int) { two.Mark(i, int64(i)) },
		"text":    func(i int) { text.Mark(i, "GET /index.html HTTP/1.1, Host: a") }, //waymark:ignore they are recorded
	} {
		b.Run(name, func(b *testing.B) {
			s, err := recorder.Start(recorder.Options{Dir: b.TempDir(), Name: "bench", Patterns: []string{"convert:*"}, Size: 32 << 20})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Stop()
			const events = 100_000
			for i := range events {
				mark(i)
			}
			var user, system int64
			for b.Loop() {
				events, _, err := client.OpenRing(s.Path())
				if err != nil {
					b.Fatal(err)
				}
				w, err := recording.Create(filepath.Join(b.TempDir(), "trace"), &recording.Options{})
				if err != nil {
					b.Fatal(err)
				}
				c, err := w.PackedChannel("agent")
				if err != nil {
					b.Fatal(err)
				}
				u, s := cpuTime(b)
				if err := events.Rings().Batches(context.Background(), func(batch *ring.Batch) {
					if _, err := c.Write(batch); err != nil {
						b.Fatal(err)
					}
				}); err != nil {
					b.Fatal(err)
				}
				u1, s1 := cpuTime(b)
				user, system = user+u1-u, system+s1-s
				events.Close()
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(user)/float64(b.N)/events, "user-ns/event")
			b.ReportMetric(float64(system)/float64(b.N)/events, "system-ns/event")
		})
	}
}
