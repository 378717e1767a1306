package tracer

import (
	"slices"

	"github.com/waymark-trace/waymark/event"
)

// Target says where to look for markers. Exactly one of PID, PIDs, Path and Command is set.
type Target struct {
	// PID is a running process with all its threads: its executable and every library it
	// maps now.
	PID int
	// PIDs are several of them. Each costs a link in the kernel for each file; other
	// processes that map the same files are left alone.
	PIDs []int
	// Follow adds the children that these processes have from now on, and theirs, each from
	// its first instruction. It needs Linux 5.4 with BTF. Other processes that run the same files
	// then pay for a hit, too, and their reference counters are raised: the kernel cannot tell
	// them beforehand. They are not counted. At most 32768 processes at a time.
	Follow bool
	// Path is an executable or library: every process that maps it, now and later.
	Path string
	// Engine says who looks. Find, Count, Trace and Latency must be given the same.
	Engine Engine
	// Outline leaves out of simple markers where they are and what their variables are: Sites and
	// Fields are empty, and ErrOutline is why. It is for lists of them: of a large program, finding
	// these takes a second, and memory for most of what it has of debugging information.
	Outline bool
	// Command is started by Start and attached before its first instruction.
	Command []string
}

// pids returns the processes of PID or PIDs, each once.
func (t Target) pids() []int {
	if t.PID != 0 {
		return []int{t.PID}
	}
	var pids []int
	for _, pid := range t.PIDs {
		if !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Later says what to do about files that processes of the target map after attaching: by
// dlopen, execve, or because they have only just started.
type Later struct {
	// Choose says whether a marker of such a file is wanted; nil, all are.
	Choose func(*Marker) bool
	// Report is told what was attached then, or what went wrong with it, which ends nothing else.
	// It may be nil.
	Report func(attached []*Marker, err error)
	// Pause stops a process by SIGSTOP where it has executed a program, or its dynamic linker
	// has mapped something, until what there is in it is attached: for some 20 ms, before a
	// single instruction of it runs. So nothing is missed. Its parent can see that it was
	// stopped; jobs of interactive shells are therefore left running. Without Pause, or BTF, what
	// happens in the first 20 ms, or second, is not seen.
	Pause bool
}

// Options are how Count, Trace and Latency attach. The zero value is what most callers want.
type Options struct {
	// MaxString is how many bytes of a string or []byte an event carries, 0 for 256, at
	// most 4096. Longer values are cut and say so.
	MaxString int
	// BufferSize is the size in bytes of the buffer between the kernel and this process, rounded up
	// to a power of two, 0 for 16 MiB, or what Tracer.Buffer says. Events that find it full are
	// counted as lost.
	BufferSize int
	usual      bool // BufferSize is the default
	// Where says which hits count, by what they carry, as in `attempt > 1 && path ~ "/api/*"`: the
	// language is docs/filters.md's. The kernel decides it, and a hit of which it does not hold has
	// no event. "" is every hit. What is wrong with it is a *WhereError.
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
	// OwnPIDs has events say which numbers process and thread have in a PID namespace below that of
	// this process. It needs BTF, and costs some ten nanoseconds an event, of such a process a
	// hundred.
	OwnPIDs bool
	// By breaks counts down: by "pid", "tid", "comm" (the thread's name), "cpu", "goroutine",
	// and by fields of the markers, by name or as "arg1" and so on. Several are told apart
	// together. A name that no marker has is a *NoFieldError. At most 8, four of them strings.
	By []string
	// MaxKeys is how many keys Count has room for, of all markers together, 0 for 16384, at
	// most 1048576. Each takes memory of the kernel: up to 360 bytes, and 8 for each CPU.
	MaxKeys int
	// Later attaches to what appears later in the processes of PID and PIDs; nil, nothing is. Its
	// functions are called by one goroutine, and must not call Close or Stop.
	Later *Later
}

// MarkerCount is how often one marker was hit since attaching.
type MarkerCount struct {
	Marker *Marker
	Count  uint64
	// With Options.By, Count is the sum of Keys and Others.
	Keys   []KeyCount    // the keys so far, in the order of their first Read
	Others uint64        // hits with keys beyond Options.MaxKeys
	Fields []event.Field // the fields of the keys, one for each of By
}
