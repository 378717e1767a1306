// Package introspect lists every marker, tracepoint and key of the running program, with its
// declaration, its sites, its tracers and the number of hits while traced.
//
//	http.Handle("/debug/points", introspect.Handler())
//
// # Sources
//
// Names, counts and probes come from packages marker, tracepoint and statickey, at the moment of
// the call. The rest is read from the program's executable:
//
//   - The variable that declares a point, from the symbol table. A stripped executable
//     (-ldflags=-s) has none, and Package and Variable are empty.
//   - The sites, and the types of a marker's fields before its own code ran, from a section that
//     "waymark link" writes and strip leaves. Without it Sites is empty.
//
// Executables are read where they are ELF files: on Linux, Android, the BSDs, illumos and Solaris.
// On macOS, Windows and other platforms Package, Variable and Sites are empty, and the error of
// [All] wraps errors.ErrUnsupported. Everything else is complete there.
//
// File and line of a declaration are unknown: a point is data, for which the compiler writes no
// line, neither into the line table nor into DWARF. "go doc -u PACKAGE.VARIABLE" shows the
// declaration.
//
// # Cost
//
// The package does nothing before its first call. The executable is read at that call, and again
// when a new point appears: some 5 ms and 5 MB of transient memory for an executable of 16 MB, in
// proportion to its symbols. Only data about the program's own points is kept. Other calls take a
// fraction of a millisecond, for reading the program's data as marker.All does. All functions may
// be called on any goroutine; none arms or disarms anything.
//
// This package imports net/http, which a program that uses markers alone does not pay for.
package introspect
