// Package recorder records the markers and tracepoints of the program that it is in: it connects them to rings,
// and takes them off again. Nothing links it but the agent.
//
// A pass that is recorded takes no lock, allocates nothing, waits for nobody and wakes nobody. How that can
// be, and what may be relied on, is in docs/rings.md.
package recorder
