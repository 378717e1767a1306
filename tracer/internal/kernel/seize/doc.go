// Package seize stops threads of other processes by ptrace, and lets them run again.
//
// Such a stop is seen by the tracer alone: a parent that waits with WUNTRACED, a shell with job control, and the
// process itself notice nothing, and the end of the tracer ends it. There is one tracer for a thread: one that a
// debugger traces cannot be stopped in this way. Nor can a child of this process: whoever waits for it here would take
// the stop for its end.
package seize
