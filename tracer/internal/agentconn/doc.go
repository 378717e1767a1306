// Package agentconn is a tracer's end of the connection to an agent in a Go program, and reads the
// events and counts that the program keeps in shared memory for it.
package agentconn
