package main

import (
	"strings"
	"testing"

	"github.com/waymark-trace/waymark/internal/test/diff"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracepoint"
)

const want = `primes below 60: 17
level=INFO msg=kernel:sched_switch prev_pid=0 next_pid=1 prev_state=0
level=INFO msg=kernel:sched_switch prev_pid=1 next_pid=2 prev_state=0
level=INFO msg=kernel:sched_switch prev_pid=2 next_pid=1 prev_state=1
level=INFO msg=kernel:sched_wakeup pid=2 name=naps
level=INFO msg=kernel:sched_switch prev_pid=1 next_pid=2 prev_state=16
level=INFO msg=kernel:sched_switch prev_pid=2 next_pid=0 prev_state=1
level=INFO msg=kernel:sched_wakeup pid=2 name=naps
level=INFO msg=kernel:sched_switch prev_pid=0 next_pid=2 prev_state=0
level=INFO msg=kernel:sched_switch prev_pid=2 next_pid=0 prev_state=16
primes below 60: 17
primes below 60: 17
kernel:sched_switch 7
kernel:sched_wakeup 2
kernel:sched_wakeup to kernel:sched_switch 2
`

func TestOutput(t *testing.T) {
	for range 2 {
		var out strings.Builder
		if err := run(&out); err != nil {
			t.Fatal(err)
		}
		if d := diff.Of(want, out.String()); d != "" {
			t.Errorf("output (-want +got):\n%s", d)
		}
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	if err := run(&strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	for _, m := range marker.All() {
		if m.Armed != 0 || len(m.Probes) != 0 {
			t.Errorf("marker %s is armed %d times and has probes %q", m.Name, m.Armed, m.Probes)
		}
	}
	for _, p := range tracepoint.All() {
		if p.Armed != 0 || len(p.Probes) != 0 {
			t.Errorf("tracepoint %s is armed %d times and has probes %q", p.Name, p.Armed, p.Probes)
		}
	}
}
