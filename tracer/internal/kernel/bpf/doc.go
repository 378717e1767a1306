// Package bpf assembles, loads and attaches the eBPF programs of the kernel engine, and reads
// what they write. It is the only package that imports an eBPF library.
//
// Nothing is compiled on the user's machine: a program is generated for the operands at hand
// from the layout in layout.go. Nothing is pinned either, so that the kernel detaches
// everything and lowers the reference counters when the process ends that holds the links. That
// is a guard (package guard), which ends with this process, however that does.
package bpf
