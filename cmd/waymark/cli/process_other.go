//go:build !linux

package cli

// process is never made here: nothing can be attached to.
type process struct{}

func openProcess(int) *process { return nil }

func (*process) ended() <-chan struct{} { return nil }
func (*process) close()                 {}
