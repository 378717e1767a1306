package tracer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The kernel raises a counter once for all tracers that go through it, and in nobody else's process.
func TestCounters(t *testing.T) {
	path := tick(t)
	p, other := startTick(t, path, 1), startTick(t, path, 1)
	markers := mustFind(t, PIDs(p.PID(), other.PID()), "loop2", "bare")
	values := func(pid int) map[string][]uint16 {
		t.Helper()
		all := map[string][]uint16{}
		for _, m := range markers {
			v, err := m.Counters(pid)
			if err != nil {
				t.Fatal(err)
			}
			all[m.Name] = v
		}
		return all
	}
	for n := range uint16(3) {
		want := map[string][]uint16{"loop2": {min(n, 1)}, "bare": {0}}
		if diff := cmp.Diff(want, values(p.PID())); diff != "" {
			t.Errorf("%d tracers (-want +got):\n%s", n, diff)
		}
		c, err := Count(PIDs(p.PID()), markers, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	if got := values(other.PID())["loop2"][0]; got != 0 {
		t.Errorf("the counter of another process is %d", got)
	}
	if _, err := markers[0].Counters(1); err == nil {
		t.Error("a process that was not looked at has values")
	}
	p.Cmd.Process.Kill()
	p.Cmd.Wait()
	if v, err := markers[0].Counters(p.PID()); err == nil {
		t.Errorf("a process that ended has values %v", v)
	}
}
