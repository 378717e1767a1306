package history

// Defects that are known are left out until they are mended. Each is a constant, so that nothing else changes with it.
const (
	// executesByOthers has threads other than the first execute the program: later hits are counted twice.
	executesByOthers = false
	// stopsSeen compares how often parents see children stopped with an untraced run: --follow stops them by SIGSTOP.
	stopsSeen = false
)
