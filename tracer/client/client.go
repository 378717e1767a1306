// Package client talks to the agents in Go programs that import package agent: it lists and switches
// their markers, tracepoints and keys, and manages the recordings that the programs keep themselves.
package client

import (
	"context"
	"time"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/shm/ring"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// ErrNoAgent reports that a process has no agent that listens.
var ErrNoAgent = model.ErrNoAgent

// Error reports that an agent, or the agent engine, has refused a request. Nothing was changed then.
type Error = model.AgentError

// Agent is a connection to the agent in a program, which switches things there. Whatever was done
// through it is undone when it is closed or this process ends, however it ends. Its methods may be
// called from several goroutines.
type Agent struct{ conn *conn }

// Point is a marker, tracepoint or key of a running program, as its agent tells of it.
type Point struct {
	Kind   string // "marker", "tracepoint" or "key"
	Name   string // as declared, provider:name
	Format string // of a marker
	// Fields are the arguments of a marker or tracepoint. Types are "" before the point's own code has run.
	Fields []event.Field
	Armed  int      // by the program itself and its agent; of a key how often it is enabled
	Kernel int      // by the kernel engine and other tracers
	Probes []string // the names of functions that are connected
	Hits   uint64   // while armed
	// Problem is what is wrong with its declaration, "" for nothing.
	Problem string
}

// Close undoes what was done and ends the connection.
func (a *Agent) Close() error { return a.conn.Close() }

// SessionOptions are what StartSession records.
type SessionOptions struct {
	Name     string
	Patterns []string // as in Select; none is every marker
	Flight   bool     // keep the newest events, not the oldest
	Size     int64    // bytes of all rings, 0 for 64 MiB
	Where    string
	// MaxString is how many bytes of a string or []byte are kept, 0 for 256, at most 4096.
	MaxString int
}

// Session is a recording of one program, or what is left of one in a ring file.
type Session struct {
	PID        int
	Executable string
	Name       string
	Named      bool // it outlives whoever started it
	Flight     bool // it keeps the newest events, and drops the oldest
	Alive      bool // the program still records
	Size       int64
	File       string
	Began      time.Time
	Markers    int // that it has seen or waits for
	// Recorded, Lost and Filtered are events so far; 0 of a ring file that nobody writes any more.
	Recorded, Lost, Filtered uint64

	left *leftRing // of a dead program
}

// Recover reads what a dead program has recorded, up to the last complete event.
func (s *Session) Recover() (*Ring, error) { return ringOf(openRing(s)) }

// Ring yields the events that a recording has kept, in the order of time, and implements
// source.Stopper. Read and Close may be called by different goroutines.
type Ring struct{ kept kept }

// kept is what an engine does for a Ring.
type kept interface {
	source.Stopper
	ring.Batcher
	Problems() []error
	Close() error
}

var _ source.Stopper = (*Ring)(nil)

// OpenRing reads a ring file, and returns the recording that it is of.
func OpenRing(path string) (*Ring, *Session, error) {
	k, s, err := openRingFile(path)
	if err != nil {
		return nil, nil, err
	}
	return &Ring{k}, s, nil
}

func ringOf(k kept, err error) (*Ring, error) {
	if err != nil {
		return nil, err
	}
	return &Ring{k}, nil
}

// Read fills in the next event, whose values are not used again. It returns io.EOF after the last.
func (r *Ring) Read(ctx context.Context, e *event.Event) error { return r.kept.Read(ctx, e) }

// Points returns the points of the events.
func (r *Ring) Points() []*event.Point { return r.kept.Points() }

// Losses returns the numbers of events that the program has lost, by CPU and reason. In a flight
// recording these include the events that newer ones have replaced.
func (r *Ring) Losses() ([]source.Loss, error) { return r.kept.Losses() }

// Order returns source.ByTime.
func (r *Ring) Order() source.Order { return r.kept.Order() }

// Clock converts the times of events, on CLOCK_MONOTONIC, to the time of day.
func (r *Ring) Clock() source.Clock { return r.kept.Clock() }

// Problems returns the reasons why all events of some markers are lost.
func (r *Ring) Problems() []error { return r.kept.Problems() }

// Rings returns the rings. It is for package recording, which copies their memory.
func (r *Ring) Rings() ring.Batcher { return r.kept }

// Stop does nothing: the events are all there.
func (r *Ring) Stop() error { return nil }

// Close frees the memory. A Read returns os.ErrClosed then.
func (r *Ring) Close() error { return r.kept.Close() }
