// Package tracepoint declares named places in a program that pass Go values of any type to the
// functions connected to them, and cost next to nothing while there are none.
//
//	var cacheEvict = tracepoint.New2[*Cache, *Entry]("cache:evict", "cache", "entry")
//	…
//	cacheEvict.Trace(c, e)
//
// # Tracepoint or marker
//
// A tracepoint takes arguments of any type, pointers to the program's own structures included,
// checked by the compiler on both sides. It is for probes that are part of the program. Kernel
// tracers do not see tracepoints; the program's agent records them, except for values that cannot be
// interpreted outside the program. To show those too, or to show a tracepoint to kernel tracers,
// register a probe that turns the arguments into basic types and marks a marker:
//
//	var evicted = marker.New2[string, int64]("cache:evicted", "key %s age_ms %d")
//	…
//	cacheEvict.Register(func(c *Cache, e *Entry) { evicted.Mark(e.Key, e.Age.Milliseconds()) })
//
// The traced code then knows neither formats nor tracers, and several such probes can show it in
// different ways. Each hit costs some ten nanoseconds whether the marker is traced or not, because
// registering arms; if it would be the only probe, use a marker at the site itself.
//
// # Declaring
//
// A tracepoint is a package-level variable, initialized by the New function of its arity, of zero
// to eight arguments, and never copied. After its name come the names of the arguments, all of them
// or none. Its name is provider:name, as a marker's; a marker and a tracepoint do not share one name.
// There is no registration by name: a probe is a function of the argument types, so its author can
// name the variable. [All] lists the names.
//
// # Registering arms
//
// A tracepoint is enabled as long as a probe is registered or it is recorded. There is nothing else
// to arm.
//
// # Recording
//
// If the program imports package agent, waymark list, trace, record, stat and latency see its
// tracepoints beside its markers, by provider:name. --where takes the names of their arguments, or
// arg1, arg2, … without names. An event holds
//
//   - booleans, integers, floating-point numbers, strings and []byte, also of named types, as for
//     markers;
//   - the address of a pointer, map, channel or function (of its closure), which identifies it. The
//     memory at that address is not read.
//
// Arguments of other types (structs, arrays, interfaces, complex numbers and other slices) have no
// value in events, only the reason, such as "a struct is not recorded". Recording them would run
// their methods, or follow pointers, in the middle of a hit. The types are known from the first
// recorded hit on, or the first Register.
//
// A recorded hit costs as much as one of a marker, some twenty nanoseconds and no allocation
// (docs/rings.md), and twice that with texts, or with arguments that are not recorded.
//
// # Everything else is as with markers
//
// The documentation of package marker on cost, arguments, memory, order and the rules for probes
// holds here, with Trace for Mark:
//
//   - Without a probe, Trace is a load, a test and a branch, inlined; nothing is allocated. With
//     one it costs some ten nanoseconds and the probe.
//   - Arguments are evaluated in any case: guard expensive ones with Enabled. A value that becomes an
//     interface, such as an int for an argument of type any, is expensive. Pointers to local
//     variables make these escape.
//   - Probes run on the goroutine that traces, without locks, in the order in which they were
//     registered. They may block, register, unregister, and trace and mark others. Memory that
//     arguments point to belongs to the traced code: a probe that keeps or changes it has to agree
//     with that code on how.
//   - A probe that panics is disconnected, and [OnProblem] is called. A hit of a tracepoint inside
//     its own probe calls no probe, which [Info.Nested] counts.
//   - After [Probe.Unregister] returned, the probe is not running and will not run again, and all
//     its effects happen before that return.
//
// The package works on every platform that Go supports.
package tracepoint
