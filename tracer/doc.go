// Package tracer finds the markers of programs and reads their events while they run.
//
// A Target says where to look: processes, a file that any process may map, or a command that Start
// has started. Its method Find returns it with its markers, as a Found, of which Select returns some.
// Count, Latency and Trace attach to these and yield numbers, times and events until closed. As functions
// they take the target and its markers apart. Everything that the waymark command does
// with a running program goes through here, or through the packages below: doctor, kernelevent and
// client.
//
// Engine has two: the agent in a Go program, and the kernel. The kernel's is uprobes with reference
// counters, and eBPF programs that are assembled in this process. The target does not cooperate, is not stopped, save with Later.Pause,
// and is not written to, save for its reference counters, which the kernel raises and restores.
//
// A program that calls GuardMain first in main has a guard: a second process of it that attaches,
// and detaches when the program ends, also by SIGKILL.
package tracer
