// Package guard does work in a process of its own, which takes the work back when this process
// is done or has ended, however it ended.
//
// Why: the kernel cannot finish putting a uprobe in place, or taking it out, for a process that
// is being killed. uprobe_write_opcode and __update_ref_ctr, kernel/events/uprobes.c, reach the
// target's memory by get_user_pages_remote, which gives up (-EINTR) while SIGKILL is pending for
// the caller; what was raised before then stays raised, and nothing undoes it later. A process
// cannot keep SIGKILL away, but another one can do the work. A guard that is killed too, by a tool that kills whatever has
// the tracer's name, is interrupted only while it attaches: it detaches by ending (release_linux.go).
//
// A guard is this very program, executed again: no other file need be installed, found and of
// the right version. Serve, called from an init function, recognizes that the process is a guard and
// takes it over, so main, flags and tests never run in one; init functions of packages that were
// initialized before do. Any program that imports the caller can therefore be a guard, test
// binaries too.
//
// The two talk over a pair of sockets (message_linux.go). Its end is the request to take
// everything back: the kernel closes it for a process that dies, so there is nothing to forget.
package guard
