// Package ring is the shared memory in which a program records events and from which others read
// them, while it runs and after it has died: its layout, who writes it and who reads it.
//
// A file has a header, a table of the events that can occur, and for each of the scheduler's
// processors (P) a ring with one writer. docs/rings.md numbers the invariants.
package ring
