// Package agent makes a program reachable for waymark without privilege: it listens at a socket that
// only the program's own user, and root, can reach, and records markers into shared memory when it is asked to.
//
//	import _ "github.com/waymark-trace/waymark/agent/auto"
//
// starts it when the program starts. A program that imports this package instead calls [Start] where
// it likes; with WAYMARK_AGENT=1 in its environment the agent is started in any case, with
// WAYMARK_AGENT=0 it is not, by agent/auto neither. With WAYMARK_AGENT=wait the program waits,
// while its packages are initialized, until a tracer has attached and lets it go on, for at
// most ten seconds until one has connected: what waymark uses for commands that it starts.
//
// While nobody is connected the agent is one goroutine that waits in a system call, and one socket: no
// timer, no ring, no armed marker. (A goroutine that waits keeps the runtime from reporting that all
// goroutines are asleep.) Whatever a client has armed, enabled or started is undone when its connection
// ends, however it ends; only a recording that was given a name goes on, until it is stopped by
// that name or the program ends.
//
// The agent works on Linux. Elsewhere Start returns an error that wraps errors.ErrUnsupported, and
// agent/auto does nothing. docs/agent.md has the protocol, who can reach it, its limits and its cost.
package agent
