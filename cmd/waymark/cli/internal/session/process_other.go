//go:build !linux

package session

// processes are never there: nothing can be attached to.
type processes struct{}

func openProcesses([]int) processes { return processes{} }

func (processes) ended() <-chan struct{} { return nil }
func (processes) close()                 {}

// fileState is what a path led to at some time: here nothing.
type fileState struct{}

func lookAt(string) *fileState { return nil }

func (*Session) watchFile() {}

func linkedLater(int) bool { return false }

func executable(int) string { return "" }
