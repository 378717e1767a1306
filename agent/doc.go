// Package agent makes a program reachable for waymark without privilege: it listens at a socket that
// only the program's own user, and root, can reach, and records markers into shared memory when it is asked to.
//
//	import _ "github.com/waymark-trace/waymark/agent/auto"
//
// starts it when the program starts. A program that imports this package instead calls [Start]
// itself. The environment decides in any case: WAYMARK_AGENT=1 starts the agent, WAYMARK_AGENT=0
// prevents it, also with agent/auto. With WAYMARK_AGENT=wait the program waits, while its packages
// are initialized, until a tracer has attached and lets it go on; it waits at most ten seconds for a
// connection. waymark sets this for commands that it starts.
//
// Without a connection the agent is one goroutine that waits in a system call, and one socket: no
// timer, no ring, no armed marker. (A goroutine that waits keeps the runtime from reporting that all
// goroutines are asleep.) The effects of a client (armed markers, enabled keys, recordings) are
// undone when its connection ends for any reason. Only a recording with a name goes on, until it is
// stopped by that name or the program ends.
//
// The agent works on Linux. Elsewhere Start returns an error that wraps errors.ErrUnsupported, and
// agent/auto does nothing. docs/agent.md documents the protocol, the access rules, the limits and
// the cost.
package agent
