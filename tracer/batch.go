package tracer

import (
	"context"
	"fmt"

	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// Batch is the next events that a program's agent recorded on one CPU, in the order of time.
type Batch struct {
	PID  int
	CPU  int // the processor P of Go's scheduler
	Comm string

	source runner
	left   int // how many events may still be taken, about
	run    Run
	err    error
}

// runner is the source of batches.
type runner interface {
	nextRun(run *Run, cpu int) (bool, error)
	lostBy(cpu int) (Losses, error)
}

// Run holds consecutive events of a batch. Their arguments are copies of the program's memory, in
// the byte order of the machine, with each value at its event.Field.Offset. A string or []byte is
// two words of the program there: its kept and its original length. The kept bytes follow the
// arguments, in the order of the fields. The lengths of events have been checked, their values have
// not. A run is valid until the batch's next Run.
type Run struct {
	*ring.Run
	Markers []*Marker // by the number of the event
}

// Losses is how many events were lost, by the reason. Those that no CPU can be said of are CPU 0's.
type Losses struct {
	Full        uint64 // there was no room in the program's ring
	NoRing      uint64 // GOMAXPROCS was raised beyond the rings there are
	Undescribed uint64 // there was no way to record the marker: Tracer.Problems says why
}

// Total returns how many that are.
func (l Losses) Total() uint64 { return l.Full + l.NoRing + l.Undescribed }

// Run returns the next events, or nil if there are none. Events not taken come in a later batch.
func (b *Batch) Run() *Run {
	if b.left <= 0 || b.err != nil {
		return nil
	}
	ok, err := b.source.nextRun(&b.run, b.CPU)
	if !ok {
		b.err = err
		return nil
	}
	b.left -= len(b.run.Heads)
	return &b.run
}

// Lost returns the number of events of this process and CPU known to be lost, from the start of
// tracing to the end of the last run.
func (b *Batch) Lost() Losses {
	n, err := b.source.lostBy(b.CPU)
	if b.err == nil {
		b.err = err
	}
	return n
}

// Batches calls fn with what agents record, one CPU of one process after another, also with nothing
// when nothing is new, until all was read after Stop, or there is an error. It takes the place of
// Next, and only the agent engine has it. A batch is fn's until it returns.
func (t *Tracer) Batches(ctx context.Context, fn func(*Batch)) error {
	if e, ok := t.engine.(batcher); ok {
		return e.batches(ctx, fn)
	}
	return fmt.Errorf("batches of events by the kernel's engine: %w", ErrNotSupported)
}

// HasBatches reports whether Batches yields events.
func (t *Tracer) HasBatches() bool {
	_, ok := t.engine.(batcher)
	return ok
}

// batcher is an engine that has batches.
type batcher interface {
	batches(context.Context, func(*Batch)) error
}
