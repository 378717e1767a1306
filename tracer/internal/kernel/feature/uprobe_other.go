//go:build !(linux && amd64)

package feature

// askGeneration: only x86-64 replaces breakpoints.
func askGeneration() (Generation, error) { return Breakpoint, nil }
