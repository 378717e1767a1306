// Package marker declares named trace points in a program, which cost next to nothing until traced:
// by functions in the program itself, and after "waymark link" by perf, bpftrace, gdb, SystemTap
// and waymark.
//
//	var requestStart = marker.New2[string, int]("http:request_start", "path %s attempt %d")
//	…
//	requestStart.Mark(r.URL.Path, attempt)
//
// # Declaring
//
// A marker is a package-level variable, initialized by the New function of its arity, of zero to
// eight arguments. It must not be copied; go vet reports copies. A struct that needs one holds a
// pointer to it.
//
// Its name is provider:name, each of letters, digits and underscores and at most 59 bytes. Without
// a provider, tools show the last element of the package's import path as one; within the program,
// [Register] and [Arm] take names as they are declared. Two markers may have the same name:
// functions that take a name apply to both, [All] lists both, and tools show them as two sites of
// one marker.
//
// Its format is words and printf verbs, as in the Linux kernel's markers, C's (%ld) or Go's (%v).
// The word before a verb names the field, "path %s" and "path=%s" alike, so that tools show
// path="/x" attempt=1; a verb without a word is arg1, arg2, …. The type parameters are the types of
// the arguments: integers, floats, booleans, strings, []byte, uintptr and unsafe.Pointer, and named
// types of these. %s and %v print a time.Duration as its String does, "3.52ms", and %d its
// nanoseconds. For other types there is package tracepoint.
//
// A named type of a basic kind that has a String method can be marked by its text:
//
//	var changed = marker.New2[marker.Text[State], int]("job:changed", "state %s id %d")
//	…
//	changed.Mark(marker.TextOf(state), id)
//
// The slow path calls String once a hit, before tracers and probes, and they all get a string.
// While the marker is off, String is not called, nothing is allocated, and the instructions are
// those of the value itself. String runs on the goroutine that marks, so it must not wait for locks
// that are held there. If it panics, the text is %!v(PANIC=String method: …) and the program goes
// on. If it marks its own marker, the text of that hit is %!v(NESTED=String method). The String
// method of a struct, an array or a pointer cannot be called this way: call it under a guard, as
// described below.
//
// The compiler checks the arguments against the types; waymark vet, waymark link and the program
// itself at first use check the format against them. A wrong declaration never panics: link refuses
// the program, Register returns an error, [OnProblem] is called, and probes are not.
//
// # Cost
//
// While it is not armed, Mark is a load, a test and a branch that is not taken: no call, no
// lock, no allocation, half a nanosecond or less. It is inlined at every arity, except into
// functions of some thousand lines, where the compiler inlines next to nothing, and into the copies
// of closures that it makes when it inlines the function around them, as middleware often is. There
// it is a call, and link warns about it; //go:noinline before the function around avoids the latter.
//
// While it is armed, a Mark costs about ten nanoseconds. A probe by type adds two for its call, and
// a probe by name about eight. None of them allocates. A hit under a kernel tracer costs 0.3 to
// 0.5 µs. scripts/bench measures these on another machine.
//
// # Arguments
//
// Go evaluates arguments before Mark tests whether the marker is armed. A variable costs next to
// nothing; a call, a concatenation or a conversion to string costs as much as anywhere else. Guard
// these with the marker's own Enabled:
//
//	if m.Enabled() {
//		m.Mark(expensive())
//	}
//
// Two costs cannot be guarded away. A function with a marker in it is itself no longer inlined into
// its callers, so mark functions that do some work. And an argument that is a pointer to a local
// variable, or a slice of one, makes that variable escape to the heap, armed or not, because the
// compiler cannot see whether a probe keeps it; copy the value under the guard instead:
//
//	if m.Enabled() {
//		m.Mark(bytes.Clone(buf[:n]))
//	}
//
// waymark vet finds both, and writes the guards.
//
// # Memory
//
// A program that imports this package and is never traced starts no goroutine, opens no file and
// allocates nothing for it. (The standard library's reflect, strings and time, which it imports as
// nearly every program does, allocate some twenty objects when they start.)
//
// A marker takes 72 bytes of data, and a few hundred more once it is used. A goroutine that passes
// an enabled marker gets a record of some 350 bytes, and an Event of some 290 when it calls probes
// by name. Records are kept as long as the runtime keeps its own descriptor of a goroutine: it
// reuses these and never frees them, so there are as many as there were such goroutines at once.
//
// # Registering and arming
//
// The Register method connects a function of the marker's own argument types: the compiler checks
// it. [Register] connects a function to a name, without knowing the types, and hands it an [Event];
// its format must be the marker's, exactly, or empty for any. A probe by name may come before its
// marker: it is [Probe.Pending] and will be connected to every marker of the name that is found
// later, unless the formats differ, which is reported to [OnProblem]. Package-level markers are
// found at once, or when their package is initialized. A marker that is created in a function is
// found when its own Register or Arm is called first, because it has no known address and its Mark
// only tests while it is off.
//
// Registering does not arm. A marker calls its probes while it is armed, by its Arm method or by
// name with [Arm]. Both nest: a marker that was armed twice must be disarmed twice, by the same
// means. A kernel tracer arms for itself alone, and neither sees nor changes the program's own
// count.
//
// A probe may be registered more than once and is then called as often.
//
// # Rules for probes
//
// Probes are called by the goroutine that marks, without locks, in the order in which they were
// registered, after kernel tracers, on any number of goroutines at once. A probe may
//
//   - block, and the program waits for it;
//   - register, arm, disarm and unregister, itself included: see [Probe.Unregister];
//   - mark other markers, whose probes are called in turn, to a depth of eight. A hit of a marker
//     whose probe this goroutine is already in calls no probe and is counted in [Info.Nested], as
//     is one that is too deep; kernel tracers see it;
//   - panic: it is disconnected from every marker of its name, [OnProblem] is called, and the other
//     probes and the program go on;
//   - call runtime.Goexit, which ends the goroutine as anywhere; later probes are not called.
//
// Arguments are those of Mark, by value. Strings may be kept. A []byte and the memory behind a
// pointer belong to the caller of Mark: they may be read during the call and must be copied to be
// kept. An Event is reused and must not be kept at all.
//
// # Order
//
// In the terms of the Go memory model:
//
//   - Code before Register happens before every call of the probe. A probe needs no lock to read
//     data that was set up for it.
//   - A Mark that happens after both Register and Arm returned calls the probe, one that happens
//     after the last Disarm or Unregister returned does not. Between goroutines that do not
//     synchronize, a Mark that runs at the same time may do either.
//   - After [Probe.Unregister] returned, the probe is not running and will not run again, and all
//     its effects happen before that return. Memory that it used may be freed, and memory that it
//     wrote may be read. Disarm does not wait: calls in progress go on.
//   - Calls on one goroutine are in the order of its marks. Nothing orders those of different
//     goroutines: a probe locks the data that its calls share.
//   - A Mark, armed or not, is no synchronization for the program that marks: it must not be relied
//     on for any.
//
// All functions and methods may be called on any goroutine. The race detector knows all of this and
// reports a probe that gets it wrong.
//
// # Other tools
//
// "waymark build", or "waymark link" after go build, gives every marker of an x86-64 Linux
// executable an address and an SDT note; at most 1024 markers. Half of its armed word is then a
// reference counter that the kernel raises while a tracer is attached. Nothing else about the
// program changes. A marker that the compiler does not lay out statically (built with -gcflags=-l,
// -gcflags='-N -l', or -cover over this package) works in the program itself, and link reports that
// it found none.
//
// The package builds and works in-process on every platform that Go supports. Package introspect
// lists the markers of a running program; docs/from-the-kernel.md compares them with trace_mark and
// the rest of the originals.
package marker
