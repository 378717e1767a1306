// Package refcount raises reference counters of markers by writing to processes' memory, for
// kernels that do not do it (before Linux 4.20), and finds those that dead tracers left raised.
//
// Keep does what the kernel does with a ref_ctr_offset (kernel/events/uprobes.c): a counter
// goes up by one in every private writable mapping that holds it, in mappings and processes
// that come later too, and down again in the end. What differs:
//
//   - The kernel counts one for a probed instruction, however many tracers share it. Here each
//     tracer counts one for itself, as SystemTap and bcc do: there is nobody who would see
//     the last one leave, and a count is what the 16 bits are.
//   - Later mappings are found by looking again and again, not when they are made: a marker
//     that is hit within milliseconds of a dlopen may be missed.
//   - A child of fork inherits raised counters. Children that are not traced have theirs
//     lowered as soon as they are seen; see lineage.
//
// Reading, adding one and writing back are three steps. The traced file itself is the lock
// between our processes (flock): the one thing that all tracers of a counter have, whatever
// namespaces they are in. Other people's tracers do not take it.
package refcount
