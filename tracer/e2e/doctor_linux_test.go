package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/peer"
)

// What another tracer holds is traced, and not left behind, however that tracer attached. Doctor leaves it alone.
func TestDoctorKnowsTracers(t *testing.T) {
	peer.Root(t)
	peer.KernelEvents(t)
	tools := peer.Need(t, "gcc", "perf", "bpftrace")
	peer.Header(t, "sys/sdt.h")
	s := newStorm(t, manyMarkers(t, tools[0], 1))
	pid := fmt.Sprint(s.pids[0])
	run(t, waymark(t), "probe", "add", s.path)
	t.Cleanup(func() { exec.Command(waymark(t), "probe", "del", "sdt_storm:*").Run() })
	enable := "/sys/kernel/tracing/events/sdt_storm/m0/enable"
	for name, attach := range map[string]func(t *testing.T) (stop func()){
		"stat": func(t *testing.T) func() {
			w := watch(t, s.path)
			return func() { w.stop() }
		},
		"stat -p": func(t *testing.T) func() {
			w := watch(t, "-p", pid)
			return func() { w.stop() }
		},
		"ftrace": func(t *testing.T) func() {
			set := func(on string) {
				if err := os.WriteFile(enable, []byte(on), 0); err != nil {
					t.Fatal(err)
				}
			}
			set("1")
			return func() { set("0") }
		},
		"perf": func(t *testing.T) func() {
			return tracing(t, exec.Command(tools[1], "stat", "-e", "sdt_storm:m0", "-p", pid))
		},
		"bpftrace": func(t *testing.T) func() {
			return tracing(t, exec.Command(tools[2], "-p", pid, "-e", "usdt:"+s.path+":storm:m0 { @ = count(); }"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			stop := attach(t)
			eventually(t, "the counter is not raised", func() bool { return s.raised(t) > 0 })
			before := s.raised(t)
			out := run(t, waymark(t), "doctor", "--repair", "--yes", "-p", pid)
			if !strings.Contains(out, "storm:m0 at ") || !strings.Contains(out, "is 1: 1 site traced") || strings.Contains(out, "left by") {
				t.Errorf("doctor says\n%s", out)
			}
			if now := s.raised(t); now != before {
				t.Errorf("%d counters were raised, now %d", before, now)
			}
			stop()
			eventually(t, "the counter is not lowered", func() bool { return s.raised(t) == 0 })
		})
	}
}

// tracing runs a tracer until stop is called.
func tracing(t *testing.T, cmd *exec.Cmd) (stop func()) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	stop = func() {
		if !ended {
			ended = true
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait() // perf stat ends with the signal
		}
	}
	t.Cleanup(stop)
	return stop
}
