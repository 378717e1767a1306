// Package view lays out what commands show: markers and their sites, events, counts, latencies and recordings, as tables
// for people and as JSON for programs.
//
// A command picks a view by its flags and its output. Views of samples are a [View]: of counts ([StatPlain] and others)
// and of latencies ([LatencyPlain] and others). Views of events are a [TraceView]. The objects of
// --json are a contract: docs/json.md.
package view

import (
	"fmt"
	"time"

	"github.com/waymark-trace/waymark/cmd/waymark/cli/internal/term"
)

// End is why a session ended. It is part of what --json prints.
type End string

// The ends of sessions.
const (
	ByInterrupt End = "interrupt" // Ctrl-C or SIGTERM
	ByDuration  End = "duration"  // -d
	ByCount     End = "count"     // -n
	ByCommand   End = "command"   // the command ended
	ByProcess   End = "process"   // the process of -p ended
	ByOutput    End = "output"    // the reader of the output left
	ByError     End = "error"     // reading or writing failed
	ByDisk      End = "disk"      // a recording could not be written
	ByTrace     End = "trace"     // the end of a trace on disk
)

// View shows samples, one each interval and one at the end.
type View[S any] interface {
	Interval(S) error
	Final(S, End) error
}

// Show shows what read returns, every interval until the session ends and then once more. It returns why
// the session ended.
func Show[S any](v View[S], every time.Duration, ends <-chan End, read func() (S, error)) (End, error) {
	// A ticker does not drift: each tick is at a multiple of the interval after the first,
	// and ticks that come during another are left out.
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		var why End
		select {
		case <-ticker.C:
		case why = <-ends:
		}
		now, err := read()
		switch {
		case why != "" && err == nil:
			return why, v.Final(now, why)
		case why != "":
			return why, err
		case err == nil:
			err = v.Interval(now)
		}
		if err != nil {
			return ByError, err
		}
	}
}

// Live redraws lines in place, and leaves the final view there in the end.
type Live[S any] struct {
	View[S]
	*term.Screen
	lines func(s S, width, height int) []string
}

// Interval draws a sample.
func (v *Live[S]) Interval(s S) error {
	width, height := v.Size()
	lines := v.lines(s, width, height)
	lines = lines[:min(len(lines), max(height-1, 1))] // what scrolls away is not erased
	for i := range lines {
		lines[i] = term.Clip(lines[i], width)
	}
	return v.Draw(lines)
}

// Final shows the last sample by the final view.
func (v *Live[S]) Final(s S, why End) error {
	if err := v.Clear(); err != nil {
		return err
	}
	return v.View.Final(s, why)
}

// Seconds returns a duration in seconds: "1.50 s".
func Seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }

// perSecond returns a rate.
func perSecond(n uint64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// rateText returns a rate with about three digits.
func rateText(perSecond float64) string {
	switch {
	case perSecond == 0:
		return "0/s"
	case perSecond < 10:
		return fmt.Sprintf("%.2f/s", perSecond)
	case perSecond < 100:
		return fmt.Sprintf("%.1f/s", perSecond)
	}
	return fmt.Sprintf("%.0f/s", perSecond)
}

// BytesText returns a number of bytes for people: "1.5 MiB".
func BytesText(n uint64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", x, units[i])
}
