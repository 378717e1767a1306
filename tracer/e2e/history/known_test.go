package history

// Defects that are known are left out until they are mended. Each is a constant, so that nothing else changes with it.
const (
	// executesByOthers has threads other than the first execute the program: later hits are counted twice.
	executesByOthers = false
	// stopsSeen compares how often parents see children stopped with an untraced run: --follow stops them by SIGSTOP.
	stopsSeen = false
	// timeOrdered holds trace to the order of time among all threads, and agentOrdered that of an agent to the order of
	// each thread.
	timeOrdered, agentOrdered = false, false
	// beginTogether has the markers of one tracer begin at one moment: otherwise begins of latency come before there are ends.
	beginTogether = false
)
