// Package prog generates the eBPF programs of the kernel engine, describes their maps, and decodes the
// bytes that they write. It makes no system call, so it builds and is tested on every platform.
//
// Nothing is compiled on the user's machine: a program is generated for the operands at hand.
// event.go, key.go and latency.go have the layouts of what programs write. Maps appear as descriptors
// of the process that loads the program.
package prog
