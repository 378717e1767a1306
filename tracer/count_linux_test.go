package tracer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"golang.org/x/sys/unix"
)

var modes = []bpf.Mode{bpf.Multi, bpf.Events, bpf.EventsPlain}

// force makes Count and Trace attach in one way only.
func force(t *testing.T, m bpf.Mode) {
	forceMode = m
	t.Cleanup(func() { forceMode = bpf.Auto })
}

func TestCountPID(t *testing.T) {
	path := tick(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			traced, other := startTick(t, path, 1000), startTick(t, path, 1000)
			target := PIDs(traced.PID())
			markers := mustFind(t, target)
			c, err := Count(target, markers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for _, m := range markers {
				want := uint16(1)
				if !m.Counted {
					continue
				}
				if got := counter(t, traced.PID(), m); got != want {
					t.Errorf("%s: counter of the traced process is %d, want %d", m.Name, got, want)
				}
				if got := counter(t, other.PID(), m); got != 0 {
					t.Errorf("%s: counter of another process is %d, want 0", m.Name, got)
				}
			}
			traced.run()
			other.run()
			traced.Expect("done 1000")
			other.Expect("done 0")
			want := map[string]uint64{"loop1": 1000, "loop2": 1000, "args": 1000, "bare": 1000}
			if diff := cmp.Diff(want, hits(t, c)); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			closeNow(t, c)
			if _, err := c.Read(); !errors.Is(err, os.ErrClosed) {
				t.Errorf("Read after Close: %v, want os.ErrClosed", err)
			}
			closeNow(t, c)
			for _, m := range markers {
				if m.Counted {
					if got := counter(t, traced.PID(), m); got != 0 {
						t.Errorf("%s: counter after Close is %d, want 0", m.Name, got)
					}
				}
			}
		})
	}
}

func TestCountPath(t *testing.T) {
	path := tick(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			before := startTick(t, path, 300)
			c, err := Count(Path(path), mustFind(t, Path(path), "loop*"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			after := startTick(t, path, 500)
			for _, p := range []ticker{before, after} {
				p.run()
			}
			before.Expect("done 300")
			after.Expect("done 500")
			want := map[string]uint64{"loop1": 800, "loop2": 800}
			if diff := cmp.Diff(want, hits(t, c)); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			closeNow(t, c)
		})
	}
}

func TestCountEveryHit(t *testing.T) {
	const n = 1_000_000
	p := startTick(t, tick(t), n)
	target := PIDs(p.PID())
	c, err := Count(target, mustFind(t, target, "sdt_tick:loop2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	p.run()
	p.Expect(fmt.Sprintf("done %d", n))
	if got := hits(t, c)["loop2"]; got != n {
		t.Errorf("counted %d of %d", got, n)
	}
	closeNow(t, c)
}

func TestTwoTracers(t *testing.T) {
	p := startTick(t, tick(t), 100)
	target := PIDs(p.PID())
	markers := mustFind(t, target, "loop2")
	first, err := Count(target, markers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	second, err := Count(Path(tick(t)), mustFind(t, Path(tick(t)), "loop2"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	// The kernel raises it once for the breakpoint, which both share.
	if got := counter(t, p.PID(), markers[0]); got != 1 {
		t.Errorf("counter with two tracers is %d, want 1", got)
	}
	closeNow(t, first)
	if got := counter(t, p.PID(), markers[0]); got != 1 {
		t.Errorf("counter after the first left is %d, want 1", got)
	}
	p.run()
	p.Expect("done 100")
	if got := hits(t, second)["loop2"]; got != 100 {
		t.Errorf("the second counted %d of 100", got)
	}
	closeNow(t, second)
	if got := counter(t, p.PID(), markers[0]); got != 0 {
		t.Errorf("counter after both left is %d, want 0", got)
	}
}

func TestKilledTracerLowersCounters(t *testing.T) {
	p := startTick(t, tick(t), 10)
	markers := mustFind(t, PIDs(p.PID()), "loop2")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", helperEnv, p.PID()))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "attached\n" {
		t.Fatalf("helper says %q, %v", line, err)
	}
	if got := counter(t, p.PID(), markers[0]); got != 1 {
		t.Errorf("counter while it traces is %d, want 1", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	// The guard sees its end and then detaches.
	eventually(t, "the counter is 0 after SIGKILL", func() bool { return counter(t, p.PID(), markers[0]) == 0 })
}

func TestCountRefuses(t *testing.T) {
	path := tick(t)
	markers := mustFind(t, Path(path))

	gone := startTick(t, path, 1)
	gone.Cmd.Process.Kill()
	gone.Cmd.Wait()

	copied := binDir + "/changing"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		t.Fatal(err)
	}
	changed := mustFind(t, Path(copied))
	if err := os.Remove(copied); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o755); err != nil {
		t.Fatal(err)
	}

	for _, test := range []struct {
		name    string
		target  Target
		markers []*Marker
		want    error // nil: any
	}{
		{"nothing", Target{}, markers, nil},
		{"no markers", Path(path), nil, nil},
		{"this process", PIDs(os.Getpid()), markers, nil},
		{"a thread of the kernel", PIDs(2), markers, nil},
		{"a process that is gone", PIDs(gone.PID()), markers, ErrNoProcess},
		{"a file that was replaced", Path(copied), changed, ErrChanged},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Count(test.target, test.markers, nil)
			if err == nil {
				c.Close()
				t.Fatal("attached")
			}
			if test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			t.Log(err)
		})
	}
}

func TestCounterConflict(t *testing.T) {
	path := tick(t)
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			force(t, mode)
			p := startTick(t, path, 1)
			held := mustFind(t, Path(path), "loop2")
			c, err := Count(Path(path), held, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			other := mustFind(t, Path(path))
			for _, m := range other {
				if m.Name == "loop2" {
					m.Sites[0].CounterOffset += 2
				}
			}
			// That site alone is refused: it is left out as long as there are others.
			second, err := Count(Path(path), other, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer second.Close()
			skipped := second.Skipped()
			if len(skipped) != 1 || skipped[0].Marker.Name != "loop2" || skipped[0].Site != 0 || !errors.Is(skipped[0], ErrCounterConflict) {
				t.Errorf("left out: %v, want the site of loop2 and its conflict", skipped)
			}
			p.run()
			p.Expect("done 1")
			want := map[string]uint64{"loop1": 1, "loop2": 0, "args": 1, "bare": 1}
			if diff := cmp.Diff(want, hits(t, second)); diff != "" {
				t.Errorf("hits of the others (-want +got):\n%s", diff)
			}
			if n := hits(t, c)["loop2"]; n != 1 || len(c.Skipped()) != 0 {
				t.Errorf("the tracer that was there first has %d hits and left out %v", n, c.Skipped())
			}
			closeNow(t, second)
			conflicting, err := Select(other, []string{"loop2"})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Count(Path(path), conflicting, nil); !errors.Is(err, ErrCounterConflict) {
				t.Errorf("got %v, want ErrCounterConflict", err)
			} else {
				t.Log(err)
			}
			closeNow(t, c)
			for _, m := range held {
				if got := counter(t, p.PID(), m); got != 0 {
					t.Errorf("%s: counter is %d in the end", m.Name, got)
				}
			}
		})
	}
}

// The kernel calls other things invalid, too.
func TestInvalidIsNotAlwaysConflict(t *testing.T) {
	path := tick(t)
	for what, spoil := range map[string]func(*sdt.Site){
		"a place behind the end":     func(s *sdt.Site) { s.Offset += 1 << 30 },
		"a counter at an odd offset": func(s *sdt.Site) { s.CounterOffset++ },
	} {
		for _, mode := range modes {
			t.Run(what+"/"+mode.String(), func(t *testing.T) {
				force(t, mode)
				markers := mustFind(t, Path(path), "loop2")
				spoil(&markers[0].Sites[0])
				c, err := Count(Path(path), markers, nil)
				if err == nil {
					c.Close()
					t.Fatal("attached")
				}
				if errors.Is(err, ErrCounterConflict) || !errors.Is(err, unix.EINVAL) {
					t.Errorf("got %v, want what the kernel says", err)
				}
			})
		}
	}
}

func TestCountCanceledFind(t *testing.T) {
	p := startTick(t, tick(t), 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Find(ctx, PIDs(p.PID())); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if _, err := FindAll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("FindAll: got %v, want context.Canceled", err)
	}
}
