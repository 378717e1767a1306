// Package tracer finds the markers of programs and reads their events while they run.
//
// A Target says where to look: a process, a file that any process may map, or a command to
// start. Find lists what is there. Count and Trace attach to a selection of it and yield
// numbers and events until closed. Everything that the waymark command does with a running
// program goes through here.
//
// The engine is the kernel's: uprobes with reference counters, and eBPF programs that are
// assembled in this process. The target does not cooperate, is not stopped, save with Later.Pause,
// and is not written to, save for its reference counters, which the kernel raises and restores.
//
// A program that calls GuardMain first in main has a guard: a second process of it that attaches,
// and detaches when the program ends, also by SIGKILL.
package tracer
