//go:build !linux

package peer

import "testing"

// KernelEvents requires Linux.
func KernelEvents(t testing.TB) {
	t.Helper()
	Root(t)
}
