// Package stub holds the pool of code stubs that markers of a linked program call while a
// kernel tracer is connected, and the anchor from which tools find the pool in the file.
//
// There is one pool per program, in its text, so that a stub has an address of its own
// and a program counter that tracebacks and profilers know.
package stub
