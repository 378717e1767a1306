package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/internal/test/peer"
	"github.com/waymark-trace/waymark/tracer"
)

const million = 1_000_000

// Every tracer counts exactly what the program counted itself: no more, no fewer.
func TestEveryHitIsCounted(t *testing.T) {
	peer.Root(t)
	peer.Need(t, "perf", "bpftrace")
	for _, c := range []gobuild.Config{{}, {PIE: true, Strip: true, Go: gobuild.Versions[0]}} {
		t.Run(c.String(), func(t *testing.T) {
			path := allkinds(t, c)
			args := []string{"-n", fmt.Sprint(million)}
			t.Run("waymark", func(t *testing.T) {
				for name, n := range counted(t, append([]string{path}, args...), "kinds:signed", "kinds:eight") {
					if n != million {
						t.Errorf("waymark counted %d of %d hits of %s", n, million, name)
					}
				}
			})
			t.Run("bpftrace", func(t *testing.T) {
				out := run(t, "bpftrace", "-e", "usdt:"+path+":kinds:signed { @n = count() }", "-c", fmt.Sprintf("%s -n %d", path, million))
				if m := regexp.MustCompile(`@n:\s*(\d+)`).FindStringSubmatch(out); m == nil || m[1] != fmt.Sprint(million) {
					t.Errorf("bpftrace counted %q of %d", m, million)
				}
			})
			t.Run("perf", func(t *testing.T) {
				peer.KernelEvents(t)
				cache := t.TempDir()
				perf(t, cache, "buildid-cache", "--add", path)
				t.Cleanup(func() { perf(t, cache, "probe", "-q", "-d", "sdt_kinds:*") })
				perf(t, cache, "probe", "-q", "sdt_kinds:signed")
				out := perf(t, cache, append([]string{"stat", "-x,", "-o", "/dev/stdout", "-e", "sdt_kinds:signed", path}, args...)...)
				if m := regexp.MustCompile(`(?m)^(\d+),,sdt_kinds:signed,`).FindStringSubmatch(out); m == nil || m[1] != fmt.Sprint(million) {
					t.Errorf("perf counted %q of %d", m, million)
				}
			})
		})
	}
}

// counted runs a command with our tracer counting the markers that match.
func counted(t *testing.T, argv []string, patterns ...string) map[string]uint64 {
	t.Helper()
	c := start(t, argv, patterns...)
	counter, err := tracer.Count(c.target, c.markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer counter.Close()
	c.finish(t)
	counts, err := counter.Read()
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]uint64)
	for _, n := range counts {
		out[n.Marker.FullName()] = n.Count
	}
	return out
}
