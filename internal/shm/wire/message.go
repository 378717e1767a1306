package wire

import "github.com/waymark-trace/waymark/event"

// What a Request asks for.
const (
	Hello    = "hello"    // who is there; Version
	List     = "list"     // every marker, tracepoint and key, an Answer each
	Arm      = "arm"      // markers of Names, once more, until Disarm or the end of the connection
	Disarm   = "disarm"   // undoes it
	Enable   = "enable"   // keys of Names, likewise
	Disable  = "disable"  // switches them off, until the end of the connection
	Record   = "record"   // starts Session; the answer carries the descriptor of its ring file
	Sessions = "sessions" // every session, an Answer each
	Stop     = "stop"     // ends the session Name
	Ring     = "ring"     // the descriptor of the ring file of the session Name
	Resume   = "resume"   // lets a program go on that waits for its tracer
)

// Request is what a client asks for.
type Request struct {
	Do      string   `json:"do"`
	Version int      `json:"version,omitempty"`
	Names   []string `json:"names,omitempty"` // of markers or keys, as they are declared
	Session *Session `json:"session,omitempty"`
	Name    string   `json:"name,omitempty"` // of a session
}

// Answer is what an agent answers. At most one of its pointers is set.
type Answer struct {
	More  bool   `json:"more,omitempty"` // another answer to the same request follows
	Error *Error `json:"error,omitempty"`

	Process *Process `json:"process,omitempty"`
	Point   *Point   `json:"point,omitempty"`
	Session *Session `json:"session,omitempty"`

	// File says that a descriptor comes with the answer.
	File bool `json:"file,omitempty"`
}

// Process says who answers.
type Process struct {
	Version    int    `json:"version"`
	PID        int    `json:"pid"` // as the process itself sees it
	Start      uint64 `json:"start"`
	Executable string `json:"executable"`
	Go         string `json:"go"`
	// Waits says that the program waits for Resume.
	Waits bool `json:"waits,omitempty"`
}

// The kinds of a Point.
const (
	Marker     = "marker"
	Tracepoint = "tracepoint"
	Key        = "key"
)

// Point is a marker, tracepoint or key. The Type of a field is "" while only the point's own code
// knows it, which has not run yet.
type Point struct {
	Kind    string        `json:"kind"`
	Name    string        `json:"name"`
	Format  string        `json:"format,omitempty"`
	Fields  []event.Field `json:"fields,omitempty"`
	Armed   int           `json:"armed,omitempty"`
	Kernel  int           `json:"kernel,omitempty"`
	Probes  []string      `json:"probes,omitempty"`
	Hits    uint64        `json:"hits,omitempty"`
	Problem string        `json:"problem,omitempty"`
}

// The modes of a Session.
const (
	Discard   = "discard"   // events that find the rings full are dropped and counted
	Overwrite = "overwrite" // the newest events replace the oldest
	Count     = "count"     // hits are counted, no event is recorded
)

// Session is a recording. A request sets what to record, and Name only for one that is to
// outlive its connection; an answer says what became of it.
type Session struct {
	Name      string   `json:"name,omitempty"`
	Patterns  []string `json:"patterns,omitempty"`
	Mode      string   `json:"mode,omitempty"`
	Size      int64    `json:"size,omitempty"` // of all rings, in bytes
	Where     string   `json:"where,omitempty"`
	MaxString int      `json:"max_string,omitempty"`

	Named    bool   `json:"named,omitempty"`
	File     string `json:"file,omitempty"`
	Began    int64  `json:"began,omitempty"` // nanoseconds since 1970
	Markers  int    `json:"markers,omitempty"`
	Recorded uint64 `json:"recorded,omitempty"`
	Lost     uint64 `json:"lost,omitempty"`
	Filtered uint64 `json:"filtered,omitempty"`
}

// What is wrong with a request, for a client that acts upon it.
const (
	BadRequest  = "request"  // what no client of this version sends
	BadVersion  = "version"  // another version of the protocol
	BadWhere    = "where"    // a condition: Column and Hint
	NoField     = "field"    // a condition names a field that there is not
	NoPoint     = "point"    // no marker or key of such a name
	NoSession   = "session"  // no session of such a name
	Limited     = "limit"    // one of the agent's limits
	Failed      = "failed"   // anything else
	Unsupported = "platform" // this platform cannot
)

// Error is why a request was refused. The request changed nothing then.
type Error struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
	Column int    `json:"column,omitempty"` // of BadWhere
}

func (e *Error) Error() string { return e.Text }

// With adds what helps.
func (e *Error) With(hint string) *Error {
	e.Hint = hint
	return e
}
