package tracer

import (
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Later says what to do about files that processes of the target map after attaching: by
// dlopen, execve, or because they have only just started.
type Later struct {
	// Choose says whether a marker of such a file is wanted; nil, all are.
	Choose func(*Marker) bool
	// Report is told what was attached then, or what went wrong with it, which ends nothing else.
	// A site that is left out is a *SiteError, for a marker without a field of Where with a
	// *WhereError in it. It may be nil.
	Report func(attached []*Marker, err error)
	// Pause holds a thread where it has executed a program, or its dynamic linker has mapped
	// something, until what there is in it is attached: for some 20 ms, before a single
	// instruction of it runs. So nothing is missed. The stop is one of ptrace, which neither a
	// parent nor a shell sees, and which ends with this process. A process that is debugged
	// already, and in a program without GuardMain a child of it, waits in the kernel instead, for
	// at most 2 seconds. Report tells of a process that could not be held, and from when on its
	// hits count: so it is where the kernel has neither task work for eBPF (Linux 6.18) nor
	// CONFIG_FUNCTION_ERROR_INJECTION. Without Pause, or BTF, what happens in the first 20 ms, or
	// second, is not seen.
	Pause bool
}

// Attach is how Count, Latency and Trace attach. The zero value is what most callers want.
type Attach struct {
	// Where selects hits by what they carry, as in `attempt > 1 && path ~ "/api/*"`: the language is
	// docs/filters.md's. The kernel decides it, and other hits have no event. "" is every hit. An
	// error in it is a *WhereError. Latency applies it to begins: one that it rejects begins no pair,
	// and what was open with its key is forgotten.
	Where string
	// Strings are arguments to read as text, of which SDT notes say only that they are numbers: by
	// the name of a field or as argN. "arg1" points to text that a NUL ends, "arg1:arg2" to text
	// whose length is arg2. Markers without such an argument are left as they are; a name that none
	// has is a *NoFieldError. Events then have markers of their own, with such fields.
	Strings []string
	// Vars are variables to read besides those that simple markers name, or members of them, as
	// `req.Method` and `cmd->len`. Markers without such a variable are left as they are, and one
	// that no simple marker has is an error. Events then have markers of their own, with such
	// fields.
	Vars []string
	// Later attaches to what appears later in the processes of the target; nil, nothing is. Then
	// there need not be any marker yet. Its functions are called by one goroutine, and must not call
	// Close or Stop.
	Later *Later
	// BufferSize is the size in bytes of the buffer between this process and the kernel or the
	// program's agent, rounded up to a power of two, 0 for 16 MiB, or what Tracer.Buffer says. Events
	// that find it full are counted as lost. The kernel engine has one only for Trace.
	BufferSize int
}

// CountOptions are how Count counts.
type CountOptions struct {
	Attach
	// By breaks counts down: by "pid", "tid", "comm" (the thread's name), "cpu", "goroutine",
	// and by fields of the markers, by name or as "arg1" and so on. Several are told apart
	// together. A name that no marker has is a *NoFieldError. At most 8, four of them strings.
	By []string
	// MaxKeys is how many keys there is room for, of all markers together, 0 for 16384, at
	// most 1048576. Each takes memory of the kernel: up to 360 bytes, and 8 for each CPU.
	MaxKeys int
}

// TraceOptions are what the events of Trace carry.
type TraceOptions struct {
	Attach
	// MaxString is how many bytes of a string or []byte an event carries, 0 for 256, at
	// most 4096. Longer values are cut and say so.
	MaxString int
	// OwnPIDs has events say which numbers process and thread have in a PID namespace below that of
	// this process. It needs BTF, and costs some ten nanoseconds an event, of such a process a
	// hundred.
	OwnPIDs bool
}

// MarkerCount is how often one marker was hit since attaching.
type MarkerCount struct {
	Marker *Marker
	Count  uint64
	// With CountOptions.By, Count is the sum of Keys and Others.
	Keys   []KeyCount    // the keys so far, in the order of their first Read
	Others uint64        // hits with keys beyond CountOptions.MaxKeys
	Fields []event.Field // the fields of the keys, one for each of By
}

// fields returns the markers with fields as the options want them, without those that have no
// place. That there are such is asked for of those that are there from the beginning: with all.
func (o *options) fields(markers []*Marker, all bool) ([]*Marker, error) {
	markers, err := model.Placed(markers, all)
	if err == nil {
		markers, err = model.WithVars(markers, o.Vars, all)
	}
	if err == nil {
		markers, err = model.WithStrings(markers, o.Strings, all)
	}
	return markers, err
}

const (
	maxMaxString      = 4096
	defaultBufferSize = 16 << 20
	maxBufferSize     = 1 << 30
	defaultMaxKeys    = 16 << 10
	defaultMaxOpen    = 64 << 10
	maxMaxKeys        = 1 << 20
	defaultMaxGroups  = 1 << 10
	maxMaxGroups      = 16 << 10
)

// options are the options of all verbs, with their defaults filled in and their limits kept.
type options struct {
	Attach
	maxString int
	maxKeys   int
	maxGroups int
	ownPIDs   bool
	usual     bool // BufferSize is the default
	by        []string
	keys      []string // of pairs
}

func (a Attach) options() options {
	o := options{Attach: a, maxString: model.DefaultMaxString, maxKeys: defaultMaxKeys}
	if o.BufferSize <= 0 {
		o.BufferSize, o.usual = defaultBufferSize, true
	}
	o.BufferSize = min(o.BufferSize, maxBufferSize)
	return o
}

func (o *CountOptions) options() options {
	if o == nil {
		o = &CountOptions{}
	}
	all := o.Attach.options()
	all.by = o.By
	if o.MaxKeys > 0 {
		all.maxKeys = min(o.MaxKeys, maxMaxKeys)
	}
	return all
}

func (o *TraceOptions) options() options {
	if o == nil {
		o = &TraceOptions{}
	}
	all := o.Attach.options()
	all.ownPIDs = o.OwnPIDs
	if o.MaxString > 0 {
		all.maxString = min(o.MaxString, maxMaxString)
	}
	return all
}

// CheckWhere reports whether a condition can be read, and returns the names in it that the marker has
// no field for: with any, the condition cannot be about it. Without a marker it only reads. The
// empty condition names none. What is wrong with a condition is a *WhereError.
func CheckWhere(where string, m *Marker) (missing []string, err error) {
	if where == "" {
		return nil, nil
	}
	expr, err := filter.Parse(where)
	if err != nil || m == nil {
		return nil, model.ConditionError(err)
	}
	for _, name := range expr.Names() {
		_, ok := keyField(m, name)
		if !ok && (m.Typed || model.Positional(m, name) == 0) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	return missing, nil
}
