package tracer

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/internal/test/peer"
)

// startC compiles a program of testdata and starts it. It waits to be told to run.
func startC(t testing.TB, name string, args ...string) ticker {
	t.Helper()
	peer.Root(t)
	gcc := peer.Need(t, "gcc")[0]
	peer.Header(t, "sys/sdt.h")
	path := filepath.Join(t.TempDir(), name)
	run(t, gcc, "-O2", "-pthread", "-o", path, "testdata/"+name+".c")
	return startCommand(t, exec.Command(path, args...))
}

// until returns the lines up to "done".
func (p ticker) until() (lines []string) {
	for {
		line := p.Line()
		if line == "done" {
			return lines
		}
		lines = append(lines, line)
	}
}

// keyed returns the counts of a marker by its keys, as "1 -2", and checks the sum.
func keyed(t testing.TB, c *Counter, name string) (keys map[string]uint64, others uint64) {
	t.Helper()
	counts, err := c.Read()
	if err != nil {
		t.Fatal(err)
	}
	keys = map[string]uint64{}
	for _, n := range counts {
		if n.Marker.Name != name {
			continue
		}
		sum := n.Others
		for _, k := range n.Keys {
			var parts []string
			for i, v := range k.Key.Values {
				parts = append(parts, format(n.Fields[i], v))
			}
			keys[strings.Join(parts, " ")] += k.Count
			sum += k.Count
		}
		others += n.Others
		if sum != n.Count {
			t.Errorf("%s: keys and others are %d hits, the count is %d", name, sum, n.Count)
		}
	}
	return keys, others
}

// The program's own counts, by two arguments and by thread: 8 threads on fewer CPUs, more
// than a million hits.
func TestCountBy(t *testing.T) {
	for i, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			rounds := 20_000
			if i == 0 {
				rounds = 130_000
			}
			p := startC(t, "keys", "8", fmt.Sprint(rounds))
			target := PIDs(p.PID())
			var counters []*Counter
			for _, by := range [][]string{{"arg1", "arg2"}, {"tid"}, {"pid", "comm", "arg3"}, nil} {
				c, err := Count(target, mustFind(t, target, "keys:hit"), &CountOptions{By: by})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				counters = append(counters, c)
			}
			p.run()
			byArgs, byThread := map[string]uint64{}, map[string]uint64{}
			for _, line := range p.until() {
				var a, b string
				var n uint64
				if fmt.Sscan(line, &a, &b, &n); a == "tid" {
					byThread[b] = n
				} else {
					byArgs[a+" "+b] = n
				}
			}
			whole := map[string]uint64{fmt.Sprintf(`%d "keys"/4 7`, p.PID()): uint64(8 * rounds)}
			for i, want := range []map[string]uint64{byArgs, byThread, whole} {
				got, others := keyed(t, counters[i], "hit")
				if diff := cmp.Diff(want, got); diff != "" || others != 0 {
					t.Errorf("counts (-want +got), %d others:\n%s", others, diff)
				}
			}
			if got := hits(t, counters[3])["hit"]; got != uint64(8*rounds) {
				t.Errorf("the plain count is %d of %d", got, 8*rounds)
			}
		})
	}
}

// Keys that find no room are counted as others, and none is lost.
func TestCountByOthers(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			p := startC(t, "keys", "4", "10000")
			target := PIDs(p.PID())
			c, err := Count(target, mustFind(t, target, "keys:unique"), &CountOptions{By: []string{"arg1"}, MaxKeys: 1000})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			p.run()
			p.until()
			keys, others := keyed(t, c, "unique")
			if len(keys) != 1000 || others != 39000 {
				t.Errorf("%d keys and %d others, want 1000 and 39000", len(keys), others)
			}
			for key, n := range keys {
				if n != 1 {
					t.Errorf("%s was counted %d times", key, n)
				}
			}
		})
	}
}

func TestCountByRefuses(t *testing.T) {
	path := tick(t)
	markers := mustFind(t, Path(path), "loop2")
	var none *NoFieldError
	if _, err := Count(Path(path), markers, &CountOptions{By: []string{"path"}}); !errors.As(err, &none) {
		t.Errorf("got %v, want a *NoFieldError", err)
	} else if diff := cmp.Diff([]string{"arg1", "arg2"}, none.Available); diff != "" {
		t.Errorf("available (-want +got):\n%s", diff)
	}
	if _, err := Count(Path(path), markers, &CountOptions{By: strings.Fields("pid pid pid pid pid pid pid pid pid")}); err == nil {
		t.Error("nine parts are accepted")
	}
}
