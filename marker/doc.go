// Package marker declares named places in a program that cost next to nothing until somebody
// looks, and that any tracer can look at: functions in the program itself, and, once the
// executable went through "waymark link", perf, bpftrace, gdb, SystemTap and waymark.
//
//	var requestStart = marker.New2[string, int]("http:request_start", "path %s attempt %d")
//	…
//	requestStart.Mark(r.URL.Path, attempt)
//
// # Declaring
//
// A marker is a package-level variable, initialized by the New function of its arity. Its
// name is provider:name, letters, digits and underscores; without a provider, the package's
// name is used. Its format is words and printf verbs, as in the Linux kernel's markers: the
// word before a verb names the field, so that tools show path="/x" attempt=1. The type
// parameters are the types of the arguments: integers, floats, booleans, strings, []byte,
// uintptr and unsafe.Pointer, and named types of these. The compiler checks the arguments
// against the types; waymark link, and the program itself at first use, check the format. A
// wrong format never panics: link refuses the program, Register returns an error, and
// [OnProblem] is told.
//
// Two markers may have one name; tools show them as two sites of one marker. A marker must
// not be copied; go vet says so.
//
// # Cost
//
// While nobody is connected, Mark is a load, a test and a branch that is not taken: no call,
// no lock, no allocation. It is inlined at every arity, except into functions of some thousand
// lines, where the compiler inlines next to nothing; there it is a call, and link says so. What an argument expression costs is
// spent in any case: a variable costs nothing, a function call or a concatenation does. Guard
// these:
//
//	if m.Enabled() {
//		m.Mark(expensive())
//	}
//
// Two costs cannot be guarded away. A function with a marker in it is itself no longer
// inlined into its callers, so mark functions that do some work. And an argument that is a
// pointer to a local variable, or a slice of one, makes that variable escape to the heap,
// armed or not, because the compiler cannot see what a probe does with it; copy the value
// under the guard instead:
//
//	if m.Enabled() {
//		m.Mark(bytes.Clone(buf[:n]))
//	}
//
// A program that imports this package and is never traced starts no goroutine, opens no
// file and allocates nothing for it. (The standard library's reflect, strings and time, which
// it imports as nearly every program does, allocate some twenty objects when they start.)
//
// # Probes
//
// Register connects a function to a marker, of the marker's own argument types; Arm makes the
// marker call its functions, Disarm ends that. Registering does not arm, and arming nests:
// what was armed twice must be disarmed twice.
//
// Probes are called by the goroutine that marks, without locks, in the order in which they
// were registered, on any number of goroutines at once. A probe may block, but the program
// then waits for it. Arguments are the caller's: a probe that keeps a []byte copies it. A
// probe that panics is disconnected and [OnProblem] is told; the other probes and the program
// go on. A probe must not mark its own marker.
//
// After [Probe.Unregister] returns, the probe is not running and will not run again.
//
// Marks that happen after Arm returned call the probes that were registered before it. There
// is no other order between arming and marks on other goroutines.
//
// # Other tools
//
// "waymark build", or "waymark link" after go build, gives every marker of an x86-64 Linux
// executable an address and an SDT note. Half of
// its armed word is then a reference counter that the kernel raises while a tracer is attached. Nothing else about the
// program changes. A marker that the compiler does not lay out statically (built with
// -gcflags=-l, -gcflags='-N -l', or -cover over this package) works in the program itself, and
// link says that it finds none.
//
// The package builds and works in-process on every platform that Go has.
package marker
