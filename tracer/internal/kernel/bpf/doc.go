// Package bpf loads and attaches the eBPF programs of the kernel engine, and reads their maps and
// rings. Package prog generates them.
//
// Nothing is pinned, so that the kernel detaches everything and lowers the reference counters when
// the process that holds the links ends. That process is a guard (package guard), which ends with
// this one, however this one ends.
package bpf
