// Package simple holds markers without an instruction: a call of one compiles to nothing.
//
//	simple.Mark2("scsi:queuecommand", "Command being queued %p Done function %p", cmd, done)
//
// The compiler checks that the variables exist and vet that the format fits them; then the
// call is inlined, its body is empty, and not a byte of code is left. A variable that is
// renamed or removed breaks the build at the marker's line.
//
// waymark build and waymark link find the markers in the sources of the program, and a probe
// location for each: the code of the next statement, if it runs when, and only when, the marker
// was passed. Often there is none. Then the marker is listed and cannot be traced; use Anchor2
// in place of Mark2, which leaves a nop of one byte.
//
// Arguments are variables, and fields of variables that are structs: v, v.f, v.f.g. Any other
// expression may leave code, such as the nil check of p.f and the bounds check of s[i]; waymark
// vet reports them. Name and format are constants.
//
// Small effects remain. A variable that a closure does not use otherwise is captured for the
// marker. Around closures and select, registers and stack slots may swap. Go 1.25 leaves a check in
// generic functions. A call adds 8 to 14 to the compiler's estimate of the size of the function
// around it, which may then no longer be inlined into its callers. With inlining off
// (-gcflags=-l, -gcflags='-N -l') calls of empty functions remain.
//
// docs/simple.md helps to choose between this package and package marker.
package simple

// Mark0 marks a place.
func Mark0(name, format string) {}

// Mark1 marks a place and names one variable.
func Mark1[A any](name, format string, a A) {}

// Mark2 marks a place and names two variables.
func Mark2[A, B any](name, format string, a A, b B) {}

// Mark3 marks a place and names three variables.
func Mark3[A, B, C any](name, format string, a A, b B, c C) {}

// Mark4 marks a place and names four variables.
func Mark4[A, B, C, D any](name, format string, a A, b B, c C, d D) {}

// Mark5 marks a place and names five variables.
func Mark5[A, B, C, D, E any](name, format string, a A, b B, c C, d D, e E) {}

// Mark6 marks a place and names six variables.
func Mark6[A, B, C, D, E, F any](name, format string, a A, b B, c C, d D, e E, f F) {}

// Mark7 marks a place and names seven variables.
func Mark7[A, B, C, D, E, F, G any](name, format string, a A, b B, c C, d D, e E, f F, g G) {}

// Mark8 marks a place and names eight variables.
func Mark8[A, B, C, D, E, F, G, H any](name, format string, a A, b B, c C, d D, e E, f F, g G, h H) {}
