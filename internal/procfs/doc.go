// Package procfs reads /proc: the running processes, their mappings, the privileges of this
// process, and the memory of a process at an offset of a mapped file.
//
// Everything in /proc can be chosen by the process that is looked at (names of files and
// commands) or vanish between two reads. Names are therefore data, reads are bounded, and a
// process that is gone is an error that wraps fs.ErrNotExist or ESRCH: see Gone.
package procfs
