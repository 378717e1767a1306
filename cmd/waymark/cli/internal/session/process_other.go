//go:build !linux

package session

// processes are never there: nothing can be attached to.
type processes struct{}

func openProcesses([]int) processes { return processes{} }

func (processes) ended() <-chan struct{} { return nil }
func (processes) close()                 {}

func linkedLater(int) bool { return false }

func executable(int) string { return "" }
