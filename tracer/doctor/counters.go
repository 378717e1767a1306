package doctor

import "github.com/waymark-trace/waymark/tracer/internal/model"

// Counter is what one reference counter is in a process, in one mapping of its file.
type Counter struct {
	PID     int
	Comm    string   // name of the process
	Path    string   // of the file
	Markers []string // that it guards
	Address uint64   // in the process
	Value   uint16
	Initial uint16 // in the file: the value while nobody traces
	// Sites are how many probed instructions it goes with, and Attached how many of them
	// somebody has changed: a tracer is there.
	Sites, Attached int
	// Debugger is who traces the process by ptrace, 0 for nobody.
	Debugger int
	// Leaked means that it was raised for at least a tenth of a second without a tracer: the
	// tracer died before the counter was lowered. The marker then costs as much as while traced.
	Leaked bool

	start  uint64 // of the process
	offset uint64 // in the file
	sites  []uint64
	file   *model.File
}

// Counters returns the reference counters of a process: those that guard markers which Find
// returns. It reads the process's memory, which needs what ptrace needs.
func Counters(pid int, markers []*model.Marker) ([]Counter, error) {
	return counterStates(pid, markers)
}

// Repair restores the initial value of a leaked counter, if process, counter and
// instructions are still what they were then: ErrChanged otherwise. It needs what ptrace needs.
func (c *Counter) Repair() error { return repairCounter(c) }
