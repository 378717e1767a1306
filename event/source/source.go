// Package source defines where events come from: live kernel probes, the agent in a program, and
// a trace on disk are all a [Source].
//
// Consumers of a Source do not depend on how its events were collected. [Pairs] measures the time
// from a begin to its end for any source.
package source

import (
	"context"
	"time"

	"github.com/waymark-trace/waymark/event"
)

// Source yields events. It must not be used by several goroutines at once, unless the implementing
// type allows it.
type Source interface {
	// Points returns the points of the source's events known so far. Event.Point is one of these
	// pointers. A source that discovers points while it runs returns more of them later. Points
	// do not change once returned.
	Points() []*event.Point

	// Read fills in the next event. A live source waits for it. The event belongs to the caller,
	// but the next Read may reuse its Values and their texts. To keep them, copy them.
	//
	// Read returns io.EOF after the last event, the context's error when the context is done, and
	// os.ErrClosed after the source was closed. Any other error is final and means that events are
	// missing that Losses does not count. After an error the event is not valid.
	Read(ctx context.Context, e *event.Event) error

	// Losses returns the number of events lost so far. After io.EOF the numbers are exact.
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

// Loss counts the events lost in one stream for one reason. Its Count is never 0.
type Loss struct {
	Stream string // the part of the source that lost them: an engine, a process or a file
	CPU    int    // 0 if unknown
	Reason string // a constant below, another word of the tracer, or "" if unknown
	Count  uint64
}

// Reasons for which waymark's engines lose events.
const (
	BufferFull  = "buffer_full" // the buffer between the program or the kernel and the reader was full
	NoRing      = "no_ring"     // GOMAXPROCS was raised beyond the rings of the program
	Undescribed = "undescribed" // the program's agent could not describe the marker
)

// Total returns the number of all lost events.
func Total(lost []Loss) (n uint64) {
	for _, l := range lost {
		n += l.Count
	}
	return n
}

// Order is the order of a source's events.
type Order uint8

const (
	// Arrival is the order in which events were collected. It is the order of their times, except
	// that an event can follow a later one of another CPU or thread.
	Arrival Order = iota
	// ByTime is the order of Event.Time.
	ByTime
)

// Clock converts the times of a source's events to the time of day.
type Clock interface {
	// Wall returns the time of day of an event by its Time. It may be called by any goroutine.
	Wall(t time.Duration) time.Time
}
