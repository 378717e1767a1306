package tracer

import (
	"context"
	"fmt"
	"time"
)

// Batch is the next events that a program's agent recorded on one CPU, in the order of time.
type Batch struct {
	PID  int
	CPU  int // the processor P of Go's scheduler
	Comm string

	source packer
	left   int // how many events may still be taken
	packed Packed
	err    error
}

// packer is where packed events come from.
type packer interface {
	pack(p *Packed, cpu int) (bool, error)
	lostBy(cpu int) (Losses, error)
}

// Losses is how many events were lost, by the reason. Those that no CPU can be said of are CPU 0's.
type Losses struct {
	Full        uint64 // there was no room in the program's ring
	NoRing      uint64 // GOMAXPROCS was raised beyond the rings there are
	Undescribed uint64 // there was no way to record the marker: Tracer.Problems says why
}

// Total returns how many that are.
func (l Losses) Total() uint64 { return l.Full + l.NoRing + l.Undescribed }

// Packed is an event whose values lie in Args as they lay in the program's memory: event.Field.Offset is where. A caller that keeps
// them as they are saves most of the cost of an Event.
type Packed struct {
	Marker    *Marker
	Monotonic time.Duration // CLOCK_MONOTONIC at the hit
	Goroutine int64         // 0 when not known
	// Args are the values, and Texts the bytes of those that are strings or []byte, in the order of the fields: where the value
	// would lie are two numbers of the program's word size, how many bytes were kept and how many there were. What
	// follows the last is padding. Both are valid until the batch's next Next, in the byte order of the machine, and nothing in them has been checked.
	Args, Texts []byte
}

// Next returns the next event, nil when there is none. Events that were not taken come in a later batch.
func (b *Batch) Next() *Packed {
	if b.left == 0 || b.err != nil {
		return nil
	}
	ok, err := b.source.pack(&b.packed, b.CPU)
	if !ok {
		b.err = err
		return nil
	}
	b.left--
	return &b.packed
}

// Lost returns how many events of this process and CPU are known to be lost, from the beginning up to the event that Next
// returned last.
func (b *Batch) Lost() Losses {
	n, err := b.source.lostBy(b.CPU)
	if b.err == nil {
		b.err = err
	}
	return n
}

// Batches calls fn with what agents record, one CPU of one process after another, also with nothing when nothing is new, until
// all was read after Stop, or there is an error. It takes the place of Next, and only the agent engine has it. A batch is
// fn's until it returns.
func (t *Tracer) Batches(ctx context.Context, fn func(*Batch)) error {
	if e, ok := t.engine.(batcher); ok {
		return e.batches(ctx, fn)
	}
	return fmt.Errorf("batches of events by the kernel's engine: %w", ErrNotSupported)
}

// batcher is an engine that has batches.
type batcher interface {
	batches(context.Context, func(*Batch)) error
}
