package simple

import "runtime"

// An inlined function with an empty body leaves nothing. If part of the body remains, the compiler
// puts a mark where it was inlined, for tracebacks: a nop of one byte, unless an instruction of the
// same line can take it. KeepAlive of nothing remains to the end, becomes no instruction, and
// stays in its block because it is in the order of stores. (cmd/compile: ssa/deadcode.go on
// OpInlMark, ssa/regalloc.go on OpKeepAlive, ssagen/ssa.go on inlMarks)

// Anchor0 marks a place, with an instruction.
func Anchor0(name, format string) { runtime.KeepAlive(nil) }

// Anchor1 marks a place and names one variable, with an instruction.
func Anchor1[A any](name, format string, a A) { runtime.KeepAlive(nil) }

// Anchor2 marks a place and names two variables, with an instruction.
func Anchor2[A, B any](name, format string, a A, b B) { runtime.KeepAlive(nil) }

// Anchor3 marks a place and names three variables, with an instruction.
func Anchor3[A, B, C any](name, format string, a A, b B, c C) { runtime.KeepAlive(nil) }

// Anchor4 marks a place and names four variables, with an instruction.
func Anchor4[A, B, C, D any](name, format string, a A, b B, c C, d D) { runtime.KeepAlive(nil) }

// Anchor5 marks a place and names five variables, with an instruction.
func Anchor5[A, B, C, D, E any](name, format string, a A, b B, c C, d D, e E) { runtime.KeepAlive(nil) }

// Anchor6 marks a place and names six variables, with an instruction.
func Anchor6[A, B, C, D, E, F any](name, format string, a A, b B, c C, d D, e E, f F) {
	runtime.KeepAlive(nil)
}

// Anchor7 marks a place and names seven variables, with an instruction.
func Anchor7[A, B, C, D, E, F, G any](name, format string, a A, b B, c C, d D, e E, f F, g G) {
	runtime.KeepAlive(nil)
}

// Anchor8 marks a place and names eight variables, with an instruction.
func Anchor8[A, B, C, D, E, F, G, H any](name, format string, a A, b B, c C, d D, e E, f F, g G, h H) {
	runtime.KeepAlive(nil)
}
