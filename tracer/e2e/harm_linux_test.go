package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
)

// harmTime is how long a JVM is attached to again and again; WAYMARK_HARM_TIME=10m is for long runs.
const harmTime = 15 * time.Second

// A JVM at work, all of whose markers are attached and detached ten times a second, works on
// and computes what it did before.
func TestHarmless(t *testing.T) {
	peer.Root(t)
	for name, options := range map[string][]string{
		"as it is":   nil,
		"all events": {"-XX:+ExtendedDTraceProbes"}, // of every method and allocation, too
	} {
		t.Run(name, func(t *testing.T) { harmless(t, options) })
	}
}

func harmless(t *testing.T, options []string) {
	duration := harmTime / 2
	if s := os.Getenv("WAYMARK_HARM_TIME"); s != "" {
		var err error
		if duration, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	java, libjvm, classes := jvm(t, "Work")
	p := converse(t, java, append(options, "-XX:+UseSerialGC", "-Xmx256m", "-cp", classes, "Work")...)
	var ready string
	p.Scan(&ready)
	target := tracer.Path(libjvm)
	markers, err := tracer.Find(context.Background(), target)
	if err != nil {
		t.Fatal(err)
	}
	var cycles int
	var slowest [2]time.Duration
	for start := time.Now(); time.Since(start) < duration; cycles++ {
		next := time.After(100 * time.Millisecond)
		begin := time.Now()
		stop, err := attach(target, markers, cycles%2 == 0)
		if err != nil {
			t.Fatal(err)
		}
		slowest[0] = max(slowest[0], time.Since(begin))
		time.Sleep(50 * time.Millisecond)
		begin = time.Now()
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		slowest[1] = max(slowest[1], time.Since(begin))
		<-next
	}
	p.CloseInput()
	var rounds, wrong int
	p.Scan(&rounds, &wrong)
	if err := p.Cmd.Wait(); err != nil || wrong > 0 || rounds == 0 {
		t.Errorf("%v; %d of %d results are wrong", err, wrong, rounds)
	}
	t.Logf("%d markers, %d times in %v, attaching within %v and detaching within %v; the JVM computed %d times, %d results are wrong",
		len(markers), cycles, duration, slowest[0], slowest[1], rounds, wrong)
}

// attach attaches a counter, or a tracer whose events nobody reads.
func attach(target tracer.Target, markers []*tracer.Marker, count bool) (stop func() error, err error) {
	if count {
		c, err := tracer.Count(target, markers, nil)
		if err != nil {
			return nil, err
		}
		return c.Close, nil
	}
	tr, err := tracer.Trace(target, markers, nil)
	if err != nil {
		return nil, err
	}
	return tr.Close, nil
}

// Variables below the stack pointer survive a probe, and where the kernel would not let them
// waymark refuses to attach.
func TestRedZone(t *testing.T) {
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	generation, err := feature.UprobeGeneration()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		nop     string
		refused bool
	}{
		"1 byte":          {"0x90", false},
		"5 bytes":         {"0x0f, 0x1f, 0x44, 0x00, 0x00", generation == feature.Nop5},
		"5 bytes, padded": {"0x66, 0x0f, 0x1f, 0x40, 0x00", generation == feature.Nop5},
		// libbpf's usdt.h had these: the tracer may choose the second, if it knows the kernel.
		"1 and 5 bytes": {"0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00", false},
		// Not a whole nop5, and on some kernels no place for a probe at all.
		"6 bytes": {"0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00", false},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 10_000
			path := filepath.Join(private(t), "redzone")
			run(t, gcc, "-O2", "-DNOP=\""+test.nop+"\"", "-o", path, "testdata/redzone.c")
			p := converse(t, path, fmt.Sprint(n))
			target := tracer.Path(path)
			markers, err := tracer.Find(context.Background(), target)
			if err != nil {
				t.Fatal(err)
			}
			c, err := tracer.Count(target, markers, nil)
			if refused := errors.Is(err, tracer.ErrRedZone); refused != test.refused || !refused && err != nil {
				t.Fatalf("attaching: %v, want it refused: %t", err, test.refused)
			}
			var changed int
			p.Tell("")
			p.Scan(&changed)
			if changed > 0 {
				t.Errorf("%d of %d calls found other variables than they had written", changed, n)
			}
			if test.refused {
				t.Log(err)
				return
			}
			counts, err := c.Read()
			if err != nil || counts[0].Count != n {
				t.Errorf("%v, %v, want %d hits", counts, err, n)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
