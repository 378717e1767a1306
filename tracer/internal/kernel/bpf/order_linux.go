package bpf

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
)

// timeOrder puts records in the order of their times. A program takes the time, then reads arguments, and then makes
// its record: those of other CPUs, or of threads that preempt it, can be first. So a record is kept until it is older
// than the newest one by span, or was in the ring when that time had passed; what comes later than that is returned at
// once, and counted.
type timeOrder struct {
	span    uint64 // nanoseconds
	queue   []held // sorted by time; those before head were returned
	head    int
	horizon uint64 // what is older is returned
	last    uint64 // the time of the newest record that was returned
	late    atomic.Uint64

	current *heldBatch // of the record that was returned last
	spare   []*heldBatch
}

// held is a record that waits for its turn.
type held struct {
	time   uint64
	record []byte
	batch  *heldBatch
}

// heldBatch is memory that records share.
type heldBatch struct {
	bytes []byte
	left  int // how many of its records were not returned
}

// empty returns a batch without records.
func (o *timeOrder) empty() *heldBatch {
	n := len(o.spare)
	if n == 0 {
		return &heldBatch{}
	}
	b := o.spare[n-1]
	o.spare = o.spare[:n-1]
	return b
}

// add takes the records of a batch.
func (o *timeOrder) add(b *heldBatch) {
	newest := uint64(0)
	for record, rest := cutRecord(b.bytes); record != nil; record, rest = cutRecord(rest) {
		b.left++
		t := prog.TimeOf(record)
		o.insert(held{t, record, b})
		newest = max(newest, t)
	}
	if b.left == 0 {
		o.release(b)
	}
	o.seen(newest)
}

// insert keeps the queue sorted. A record is nearly always among the newest.
func (o *timeOrder) insert(h held) {
	if o.head > len(o.queue)/2 {
		o.queue = o.queue[:copy(o.queue, o.queue[o.head:])]
		o.head = 0
	}
	o.queue = append(o.queue, h)
	i := len(o.queue) - 1
	for ; i > o.head && o.queue[i-1].time > h.time; i-- {
		o.queue[i] = o.queue[i-1]
	}
	o.queue[i] = h
}

// seen notes that everything was read that was in the ring at a time.
func (o *timeOrder) seen(now uint64) {
	if now > o.span {
		o.horizon = max(o.horizon, now-o.span)
	}
}

// flush lets go of everything.
func (o *timeOrder) flush() { o.horizon = math.MaxUint64 }

// next returns the next record whose turn it is, nil for none. It is valid until the next call.
func (o *timeOrder) next() []byte {
	if b := o.current; b != nil {
		o.current = nil
		if b.left--; b.left == 0 {
			o.release(b)
		}
	}
	if o.head == len(o.queue) || o.queue[o.head].time > o.horizon {
		return nil
	}
	h := &o.queue[o.head]
	o.head++
	if h.time < o.last {
		o.late.Add(1)
	}
	o.last = max(o.last, h.time)
	o.current = h.batch
	return h.record
}

// maxSpare is how many batches are kept for use again.
const maxSpare = 64

func (o *timeOrder) release(b *heldBatch) {
	if len(o.spare) < maxSpare {
		o.spare = append(o.spare, b)
	}
}

// due returns how long after now it is the turn of the next record, negative without any.
func (o *timeOrder) due(now uint64) time.Duration {
	if o.head == len(o.queue) {
		return -1
	}
	at := o.queue[o.head].time + o.span
	return time.Duration(at - min(at, now))
}
