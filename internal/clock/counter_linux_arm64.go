package clock

const counter = CNTVCT

// count reads the virtual counter.
func count() uint64

// trusted: the architecture promises one counter for all processors, always on, and Linux keeps its
// own time by it (Arm ARM D11.1.2).
func trusted() bool { return true }
