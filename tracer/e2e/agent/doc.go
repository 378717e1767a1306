// Package agent tests the agent in a program with the tracer that talks to it. The test's own
// executable is also the program that is traced, and the tracer of other users.
package agent
