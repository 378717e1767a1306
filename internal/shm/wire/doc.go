// Package wire is the protocol between an agent in a traced program and the tracers on its socket:
// the messages, both ends of a connection, and their limits. docs/agent.md describes it.
//
// A message is one JSON object on a line of its own. The client sends a Request and reads Answers
// until one has no More; the agent never speaks first. The first request is Hello with the version
// of the protocol; another version than the agent's is refused, and the refusal names both. Neither
// side believes the other: lines, lists and names are bounded, a message that has begun must end in
// time, and descriptors are taken by the client only, one with an answer.
package wire

// Version is that of the protocol. It changes whenever an older peer would misunderstand.
const Version = 2

// Rebuild is the hint for an agent and a client of different versions.
const Rebuild = "rebuild the program with the agent of this waymark and restart it"

// Limits of a connection, for both sides.
const (
	// MaxMessage is the longest message, its newline included.
	MaxMessage = 64 << 10
	// MaxNames is how many points one request may name.
	MaxNames = 1024
	// MaxPoints is how many points an agent lists: more than a client has to keep in mind.
	MaxPoints = 16 << 10
)
