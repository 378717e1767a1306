package variable

// Doubt is a set of the checks that refuse a value although the debugging information has one.
type Doubt uint32

const (
	DoubtAgain Doubt = 1 << iota
	DoubtFallback
	DoubtMoved
	DoubtReturns
	DoubtDisagrees
	DoubtOnce
	DoubtSpilled
	DoubtCounter
	DoubtConstant
	DoubtJoin
	DoubtAhead
	DoubtAfterCopy
	DoubtBehind
	DoubtAgainPlace
	DoubtInstance
)

// Trusting makes the checks note their doubts and refuse nothing, for measurements.
var Trusting bool

// Doubts are their names.
var Doubts = []string{"again: parameters", "fallback", "moved", "contradiction: returns", "contradiction: disagrees", "once", "spilled", "counter",
	"constant at address", "constant at join", "ahead (clang)", "copies: after copy", "copies: begins behind", "again: place", "instance"}
