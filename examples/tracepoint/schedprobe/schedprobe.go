// Package schedprobe shows the scheduler to everybody: it turns the Go values that the tracepoints of package
// sched pass into basic types, and marks these. It is the one package that knows both sides, and
// changes with the scheduler; who looks at its markers does not.
package schedprobe

import (
	"github.com/waymark-trace/waymark/examples/tracepoint/sched"
	"github.com/waymark-trace/waymark/marker"
	"github.com/waymark-trace/waymark/tracepoint"
)

// The names and formats are what others rely on. Nobody needs these variables: sinks find
// markers by name, and tracers in the executable.
var (
	schedSwitch = marker.New3[int, int, int64]("kernel:sched_switch", "prev_pid %d next_pid %d prev_state %ld")
	schedWakeup = marker.New2[int, string]("kernel:sched_wakeup", "pid %d name %s")
)

// Connect registers the probes, and returns what unregisters them. While they are registered, each
// switch costs a call of its probe, be its marker armed or not.
func Connect() (disconnect func(), err error) {
	onSwitch, err := sched.Switch.Register(probeSwitch)
	if err != nil {
		return nil, err
	}
	onWakeup, err := sched.Wakeup.Register(probeWakeup)
	if err != nil {
		onSwitch.Unregister()
		return nil, err
	}
	return func() {
		for _, p := range []*tracepoint.Probe{onSwitch, onWakeup} {
			p.Unregister()
		}
	}, nil
}

func probeSwitch(prev, next *sched.Task) {
	schedSwitch.Mark(prev.PID, next.PID, int64(prev.State))
}

func probeWakeup(t *sched.Task) {
	schedWakeup.Mark(t.PID, t.Name)
}
