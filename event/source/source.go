// Package source defines where events come from: live kernel probes, the agent in a program, and
// a trace on disk are all a [Source].
//
// What a consumer does with events does not depend on how they were collected. [Pairs] measures
// the time from a begin to its end for any source.
package source

import (
	"context"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// Source yields events. Its methods are for one goroutine at a time, unless the type that
// implements them allows more.
type Source interface {
	// Points returns the points that events can have, as far as they are known. Event.Point is one
	// of these pointers. A source that learns of points while it runs returns more of them later;
	// the points themselves do not change.
	Points() []*event.Point

	// Read fills in the next event, and waits for it where the source is live. The event belongs to
	// the caller. Its Values, and the texts that they refer to, may be used again by the next Read:
	// a caller that keeps them copies them.
	//
	// Read returns io.EOF when all events were returned, the context's error when the context is
	// done, and os.ErrClosed after the source was closed. Any other error means that events are
	// missing which Losses does not count, and it is final. After an error the event is of no use.
	Read(ctx context.Context, e *event.Event) error

	// Losses returns the events that were lost so far. After io.EOF the numbers are exact.
	Losses() ([]Loss, error)

	// Order returns the order in which Read returns events.
	Order() Order

	// Clock converts Event.Time to the time of day.
	Clock() Clock
}

// Stopper is a live Source that can be told to collect no more. Any goroutine may call its methods,
// except that Read is for one at a time.
type Stopper interface {
	Source

	// Stop ends collecting. Read returns the events that were collected before, then io.EOF.
	// Further calls do nothing.
	Stop() error
}

// Loss is how many events were lost in one place for one reason. None has a Count of 0.
type Loss struct {
	Stream string // a name of the part of the source that lost them: an engine, a process or a file
	CPU    int    // 0 where it is not known
	Reason string // one of the constants, another word of the tracer's, or "" where it is not known
	Count  uint64
}

// Reasons for which waymark's engines lose events.
const (
	BufferFull  = "buffer_full" // there was no room between the program, or the kernel, and the reader
	NoRing      = "no_ring"     // GOMAXPROCS was raised beyond the rings of the program
	Undescribed = "undescribed" // the program's agent had no way to record the marker
)

// Total returns how many events were lost.
func Total(lost []Loss) (n uint64) {
	for _, l := range lost {
		n += l.Count
	}
	return n
}

// Order is the order of a source's events.
type Order uint8

const (
	// Arrival is the order in which events were collected: that of their times, except that an
	// event can follow a later one of another CPU or thread that was written faster.
	Arrival Order = iota
	// ByTime is the order of Event.Time.
	ByTime
)

// Clock converts the times of a source's events to the time of day.
type Clock interface {
	// Wall returns the time of day of an event by its Time. It may be called by any goroutine.
	Wall(t time.Duration) time.Time
}
