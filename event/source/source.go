// Package source defines where events come from: live kernel probes, the agent in a program, and
// a trace on disk are all a [Source].
//
// What a consumer does with events does not depend on how they were collected. [Pairs] measures
// the time from a begin to its end for any source.
package source

import (
	"time"
)

// Clock converts the times of a source's events to the time of day.
type Clock interface {
	// Wall returns the time of day of an event by its Time. It may be called by any goroutine.
	Wall(t time.Duration) time.Time
}
