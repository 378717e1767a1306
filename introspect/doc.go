// Package introspect lists every marker, tracepoint and key of the running program, with its
// declaration, its sites, its tracers and the number of hits while traced.
//
//	http.Handle("/debug/points", introspect.Handler())
//
// # Where what comes from
//
// Names, counts and probes come from packages marker, tracepoint and statickey, at the moment of
// the call. The rest the program does not know of itself and has to be read out of its executable:
//
//   - The variable that declares a point, out of the symbol table. A stripped executable
//     (-ldflags=-s) has none, and Package and Variable are empty.
//   - The sites, and the types of a marker's fields before its own code ran, out of what "waymark
//     link" wrote there. strip leaves it. Without it Sites is empty.
//
// Executables are read where they are ELF files: on Linux, Android, the BSDs, illumos and Solaris.
// On macOS, Windows and other platforms Package, Variable and Sites are empty, and the error of
// [All] wraps errors.ErrUnsupported. Everything else is complete there.
//
// File and line of a declaration cannot be told: a point is data, for which the compiler writes no
// line anywhere, neither into the line table nor into DWARF, where package-level variables have a
// name, an address and a type. "go doc -u PACKAGE.VARIABLE" shows it.
//
// # Cost
//
// The package does nothing before its first call. The executable is read at that call and again
// when a point appears that was not there before: some 5 ms and 5 MB of transient memory for one of
// 16 MB, in proportion to its symbols. Only what is about the program's own points is kept.
// Other calls take a fraction of a millisecond, for reading the program's data as marker.All
// does. All functions may be called on any goroutine; none changes what is armed.
//
// This package imports net/http, which a program that uses markers alone does not pay for.
package introspect
