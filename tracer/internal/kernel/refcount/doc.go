// Package refcount finds the reference counters of markers that a dead tracer leaked, which means
// left raised, and repairs them.
//
// The kernel raises a counter (Linux 4.20) by one in every private writable mapping that holds it,
// and lowers it when the last tracer detaches (kernel/events/uprobes.c). It fails to do so when the
// tracer is killed inside the system call that attaches or detaches.
//
// Reading a counter and writing it back are two steps. A lock on the traced file (flock) keeps two
// repairs apart, whatever namespaces they run in.
package refcount
