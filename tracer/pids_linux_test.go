package tracer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
)

// Of three processes that run one file two are asked for, and only those are counted and have
// their counters raised.
func TestSeveralPIDs(t *testing.T) {
	path := tick(t)
	for _, mode := range []bpf.Mode{bpf.Multi, bpf.Events, bpf.EventsPlain} {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			a, b, other := startTick(t, path, 30), startTick(t, path, 500), startTick(t, path, 7000)
			target := PIDs(a.PID(), b.PID(), a.PID())
			markers := mustFind(t, target)
			if len(markers) != len(tickNames) {
				t.Fatalf("found %v", fullNames(markers))
			}
			c, err := Count(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for _, p := range []ticker{a, b, other} {
				p.run()
			}
			a.Expect("done 30")
			b.Expect("done 500")
			other.Expect("done 0") // its guard was never open
			if n := hits(t, c)["loop1"]; n != 530 {
				t.Errorf("counted %d, want 30 and 500", n)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			for _, p := range []ticker{a, b, other} {
				if n := counter(t, p.PID(), mustFind(t, PIDs(p.PID()), "loop2")[0]); n != 0 {
					t.Errorf("the counter of process %d is %d after Close", p.PID(), n)
				}
			}
		})
	}
}

// One process that is gone refuses all: nobody should believe that it is watched.
func TestSeveralPIDsOneGone(t *testing.T) {
	path := tick(t)
	a, b := startTick(t, path, 1), startTick(t, path, 1)
	target := PIDs(a.PID(), b.PID())
	markers := mustFind(t, target)
	b.Cmd.Process.Kill()
	b.Cmd.Wait()
	_, err := Count(target, markers, nil)
	if !errors.Is(err, ErrNoProcess) || !strings.Contains(err.Error(), fmt.Sprint("process ", b.PID())) {
		t.Errorf("attaching: %v, want ErrNoProcess for %d", err, b.PID())
	}
	if n := counter(t, a.PID(), markers[0]); n != 0 {
		t.Errorf("the counter of the other is %d", n)
	}
}
