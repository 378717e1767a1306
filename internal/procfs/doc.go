// Package procfs reads /proc: the running processes, their mappings, the privileges of this
// process, and the memory of a process at an offset of a mapped file.
//
// A process chooses much of its own content in /proc, such as names of files and commands, and
// anything can vanish between two reads. Names are therefore data, reads are bounded, and a
// process that is gone is an error that wraps fs.ErrNotExist or ESRCH: see Gone.
package procfs
