// Package killed tests waymark by killing it at every system call that changes something: as it enters the call, and as it leaves it.
//
// The driver runs waymark under ptrace, with its guard, and a seccomp filter stops both at such calls. A first run of a verb counts
// the calls of each kind. Each later run is killed at one of them. Then the traced program, the files and the kernel must be as
// docs/security.md promises.
//
//	go test ./tracer/e2e/killed                                        a sample of some seconds
//	WAYMARK_SEEDS=1..1 go test ./tracer/e2e/killed -v -timeout 0       every call of every verb, twice
package killed
