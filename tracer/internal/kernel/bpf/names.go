package bpf

import "github.com/waymark-trace/waymark/tracer/internal/kernel/prog"

// The types of package prog, for the callers of this one.
type (
	Key             = prog.Key
	News            = prog.News
	Part            = prog.Part
	Plan            = prog.Plan
	Raw             = prog.Raw
	RawKey          = prog.RawKey
	Site            = prog.Site
	Source          = prog.Source
	Text            = prog.Text
	Tracepoint      = prog.Tracepoint
	TracepointEvent = prog.TracepointEvent
	Value           = prog.Value
	Where           = prog.Where
)

const (
	FromComm      = prog.FromComm
	FromCPU       = prog.FromCPU
	FromGoroutine = prog.FromGoroutine
	FromPID       = prog.FromPID
	FromText      = prog.FromText
	FromTID       = prog.FromTID
	FromValue     = prog.FromValue

	KeyText    = prog.KeyText
	MaxLocated = prog.MaxLocated
	MaxParts   = prog.MaxParts
	MaxStrings = prog.MaxStrings
	MaxValues  = prog.MaxValues

	Ended    = prog.Ended
	Executed = prog.Executed
	Forked   = prog.Forked
	Full     = prog.Full
	Mapped   = prog.Mapped
	Replaced = prog.Replaced
)

var (
	ComputedValue = prog.ComputedValue
	ErrTooMany    = prog.ErrTooMany
	Machine       = prog.Machine
	OperandPlan   = prog.OperandPlan
	OperandValue  = prog.OperandValue
	RecordPart    = prog.RecordPart
	RecordPlan    = prog.RecordPlan
)
