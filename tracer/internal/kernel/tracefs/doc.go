// Package tracefs reads and writes the kernel's file of user-space probe events, which perf and
// ftrace then use: Documentation/trace/uprobetracer.rst.
//
// A definition is one line of text that the kernel splits at blanks, and the file is everybody's.
// Names and paths that a line cannot hold are therefore refused or replaced before it is
// written, and what others have written is read with bounds.
package tracefs
