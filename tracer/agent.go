package tracer

import (
	"time"

	"github.com/waymark-trace/waymark/event"
)

// Agent is a connection to the agent in a program, which switches things there. Whatever was done
// through it is undone when it is closed or this process ends, however it ends. Its methods may be
// called from several goroutines.
type Agent struct{ engine *agentConn }

// DialAgent connects to the agent of a process, which is of this process's user unless that is root. The
// error wraps ErrNoAgent when there is none.
func DialAgent(pid int) (*Agent, error) {
	c, err := dialAgent(pid)
	if err != nil {
		return nil, err
	}
	return &Agent{c}, nil
}

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

// Points returns every marker, tracepoint and key of the program, by kind and name.
func (a *Agent) Points() ([]Point, error) { return a.engine.points() }

// Arm arms markers by name, as declared, all of them or none: their probes in the program run.
func (a *Agent) Arm(names []string) error { return a.engine.arm(names) }

// Switch enables keys by name, or disables them, all of them or none. Keys count: one that others
// have enabled twice stays on when it is disabled once.
func (a *Agent) Switch(names []string, on bool) error { return a.engine.toggle(names, on) }

// Sessions returns the recordings of the program.
func (a *Agent) Sessions() ([]Session, error) { return a.engine.sessions() }

// Snapshot reads what a recording has kept until now, which goes on. The Tracer's Next returns io.EOF
// behind it.
func (a *Agent) Snapshot(name string) (*Tracer, error) { return a.engine.snapshot(name) }

// StopSession ends a recording by name, and forgets what it has kept.
func (a *Agent) StopSession(name string) error { return a.engine.stopSession(name) }

// Wait returns when the agent has gone: its process ended, or it was stopped. No other method may be
// called meanwhile but Close, which makes it return.
func (a *Agent) Wait() { a.engine.wait() }

// Close undoes what was done and ends the connection.
func (a *Agent) Close() error { return a.engine.close() }

// StartSession starts a recording that outlives this connection, until it is stopped by its name or
// the program ends, and then what is in its ring file: see Recover. Of the markers, which the process's
// agent told of, those that have the patterns' names and appear later are recorded, too.
func (a *Agent) StartSession(s *SessionOptions) (*Session, error) { return a.engine.startSession(s) }

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

// Sessions returns the recordings of all programs whose agents this process may ask, and the ring files that
// dead ones left, by process and name. The error is what kept it from looking; some may be returned all the same.
func Sessions() ([]Session, error) { return allSessions() }

// Recover reads what a dead program has recorded, up to the last complete event. The Tracer's Next
// returns io.EOF behind it.
func Recover(s *Session) (*Tracer, error) { return openRing(s) }

// OpenRing does so for a ring file by its path, and tells whose it is.
func OpenRing(path string) (*Tracer, *Session, error) { return openRingFile(path) }

// RemoveSession removes the ring file that a dead program has left.
func RemoveSession(s *Session) error { return removeSession(s) }

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
