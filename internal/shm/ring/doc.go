// Package ring is the shared memory in which a program records events: its layout, its writer, and
// its readers in other processes, while the program runs and after it has died.
//
// A file has a header, a table of the events that can occur, and for each of the scheduler's
// processors (P) a ring with one writer. docs/rings.md numbers the invariants.
package ring
