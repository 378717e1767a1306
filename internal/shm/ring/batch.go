package ring

import "context"

// Batch is the next events that a program recorded on one CPU, in the order of time.
type Batch struct {
	PID  int
	CPU  int // the processor P of Go's scheduler
	Comm string

	source BatchSource
	limit  int
	left   int // the number of events that may still be taken, about
	err    error
}

// BatchSource is the ring of each CPU that a Batch reads from.
type BatchSource interface {
	Run(cpu int) (*Run, error)
	LossesOf(cpu int) (Losses, error)
}

// Batcher yields the events of rings as they lie in them.
type Batcher interface {
	// Batches calls fn with the events of one CPU of one process after another, also with nothing if
	// there are none yet, until all were read after a Stop, or there is an error. A batch is fn's
	// until it returns. Batches takes the place of Read.
	Batches(ctx context.Context, fn func(*Batch)) error
}

// NewBatch returns a batch of about limit events of one CPU.
func NewBatch(pid, cpu int, comm string, source BatchSource, limit int) Batch {
	return Batch{PID: pid, CPU: cpu, Comm: comm, source: source, limit: limit, left: limit}
}

// Losses counts lost events by reason. Losses without a CPU are counted for CPU 0.
type Losses struct {
	Full        uint64 // the ring had no room
	NoRing      uint64 // GOMAXPROCS was raised beyond the number of rings
	Undescribed uint64 // the marker could not be recorded: Event.Problem has the reason
}

// Total returns the number of all lost events.
func (l Losses) Total() uint64 { return l.Full + l.NoRing + l.Undescribed }

// Run returns the next events, or nil if there are none. Events not taken come in a later batch. The
// Run is valid until the next one of the batch.
//
// The arguments of an event are copies of the program's memory, in the byte order of the machine,
// with each value at its event.Field.Offset. A string or []byte is two words of the program there:
// its kept and its original length. The kept bytes follow the arguments, in the order of the fields.
// The lengths of events have been checked, their values have not.
func (b *Batch) Run() *Run {
	if b.left <= 0 || b.err != nil {
		return nil
	}
	run, err := b.source.Run(b.CPU)
	if run == nil || err != nil {
		b.err = err
		return nil
	}
	b.left -= len(run.Heads)
	return run
}

// Taken returns the number of events that Run has returned, and the error that ended the batch.
func (b *Batch) Taken() (int, error) { return b.limit - b.left, b.err }

// Lost returns the number of events of this process and CPU known to be lost, from the start of
// tracing to the end of the last run.
func (b *Batch) Lost() Losses {
	n, err := b.source.LossesOf(b.CPU)
	if b.err == nil {
		b.err = err
	}
	return n
}
