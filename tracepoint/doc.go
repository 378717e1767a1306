// Package tracepoint declares named places in a program that pass Go values of any type to
// the functions connected to them, and cost next to nothing while there are none.
//
//	var cacheEvict = tracepoint.New2[*Cache, *Entry]("cache:evict")
//	…
//	cacheEvict.Trace(c, e)
//
// A tracepoint differs from a marker in what its arguments can be: any type, pointers to the
// program's own structures included, checked by the compiler on both sides. That is for
// probes that are part of the program, or that its authors write: nobody outside the process
// can take such arguments apart, so kernel tracers do not see tracepoints. To show one to
// them, register a probe that turns its arguments into basic types and marks a marker:
//
//	var evict = marker.New2[string, int]("cache:evict", "key %s age_ms %d")
//	…
//	cacheEvict.Register(func(c *Cache, e *Entry) { evict.Mark(e.Key, e.Age().Milliseconds()) })
//
// examples/tracepoint is that pattern at work, sinks included.
//
// Registering arms: a tracepoint is enabled as long as a probe is registered. Otherwise
// everything that package marker says about declaring, about cost and about probes
// holds here: package-level variables, never copied; arguments are evaluated in any case, so guard
// dear ones with Enabled; probes run on the goroutine that traces, without locks, in the order in
// which they were registered; a probe that panics is disconnected; a probe that traces its own tracepoint calls nobody.
package tracepoint
