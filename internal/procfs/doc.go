// Package procfs reads what the kernel says about processes: who runs, what they map, what
// this process may do, and the bytes of a process's memory at a place in a file.
//
// Everything in /proc can be chosen by the process that is looked at (names of files and
// commands) or vanish between two reads. Names are therefore data, reads are bounded, and a
// process that is gone is an error that wraps fs.ErrNotExist or ESRCH: see Gone.
package procfs
