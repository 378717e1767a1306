// Package tracepoint declares named places in a program that pass Go values of any type to the
// functions connected to them, and cost next to nothing while there are none.
//
//	var cacheEvict = tracepoint.New2[*Cache, *Entry]("cache:evict", "cache", "entry")
//	…
//	cacheEvict.Trace(c, e)
//
// # Tracepoint or marker
//
// A tracepoint differs from a marker in what its arguments can be: any type, pointers to the
// program's own structures included, checked by the compiler on both sides. That is for probes that
// are part of the program, or that its authors write. Kernel tracers do not see tracepoints; the program's
// agent records them, but for what nobody outside can take apart. To show that, or all of it to kernel tracers, register a probe
// that turns the arguments into basic types and marks a marker:
//
//	var evicted = marker.New2[string, int64]("cache:evicted", "key %s age_ms %d")
//	…
//	cacheEvict.Register(func(c *Cache, e *Entry) { evicted.Mark(e.Key, e.Age.Milliseconds()) })
//
// The code that is traced then knows neither formats nor who looks, and several such probes can
// show it to different people. That costs some ten nanoseconds a pass whether anybody looks at the
// marker or not, because registering arms; where it is the only probe, mark at the place itself.
//
// # Declaring
//
// A tracepoint is a package-level variable, initialized by the New function of its arity, of zero
// to eight arguments, and never copied. Behind its name the arguments may have theirs, all of them or none. Its name is provider:name, as a marker's; marker and
// tracepoint do not share one name. There is no registering by name: a probe is a function of the
// argument types, so whoever writes it can name the variable. [All] lists the names.
//
// # Registering arms
//
// A tracepoint is enabled as long as a probe is registered or it is recorded. There is nothing else to arm.
//
// # Recording
//
// Where the program imports package agent, waymark list, trace, record, stat and latency see its tracepoints beside its markers, by
// provider:name, and --where takes the names of their arguments, arg1, arg2, … where they have none. Recorded are
//
//   - booleans, integers, floating-point numbers, strings and []byte, of named types too, as of markers;
//   - of pointers, maps, channels and functions their address, which tells one from another and no more: what it points to is not read.
//     (A function's is that of its closure.)
//
// Of arguments of other types, structs, arrays, interfaces, complex numbers and other slices, events say that they have no value, and
// why: "a struct is not recorded". To record would be to run methods of theirs, or to follow pointers, in the middle of a pass. The types
// are known from the first pass on that is recorded, or the first Register.
//
// A pass that is recorded costs what one of a marker does, some twenty nanoseconds and no allocation (docs/rings.md), and twice that
// where it has texts, or arguments that are not recorded.
//
// # Everything else is as with markers
//
// What package marker says about cost, arguments, memory, what a probe may do and what is ordered
// holds here, with Trace for Mark:
//
//   - Without a probe, Trace is a load, a test and a branch, inlined; nothing is allocated. With
//     one it costs some ten nanoseconds and the probe.
//   - Arguments are evaluated in any case: guard dear ones with Enabled. A value that becomes an
//     interface, such as an int for an argument of type any, is a dear one. Pointers to local
//     variables make these escape.
//   - Probes run on the goroutine that traces, without locks, in the order in which they were
//     registered. They may block, register, unregister, and trace and mark others. What arguments
//     point to is the tracing code's: a probe that keeps it or changes it has to
//     agree with that code on how.
//   - A probe that panics is disconnected, and [OnProblem] is told. One that traces its own
//     tracepoint calls nobody, which [Info.Nested] counts.
//   - After [Probe.Unregister] returned, the probe is not running and will not run again, and what
//     it did comes before.
//
// The package works on every platform that Go has.
package tracepoint
