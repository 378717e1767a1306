// Package history tests what waymark loses, doubles or leaves behind while everything around it is killed, stopped and
// starved: programs write down each of their marks, and a checker compares these notes with what tracers received.
// docs/trust.md has what is proved. It holds tests only, which need root.
package history
