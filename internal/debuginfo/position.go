package debuginfo

// Position is a position in the code, as finely as the debugging information distinguishes them.
//
// Statements that left no instruction between them have one address. gcc numbers these from 0, its views of
// the address, in the line table as in lists of locations (A. Oliva, "Location Views", 2017). Without them, the
// values at an address are those after the last of its statements.
type Position struct {
	Address uint64
	// Views are the first and the last of the address's statements that it stands for: -1 for
	// before all, or NoViews.
	Views [2]int
}

// NoView is a view that is not known.
const NoView = -2

// NoViews are the views of an address of which nothing but the address is known.
var NoViews = [2]int{NoView, NoView}

// PositionOf returns the position of an address without views.
func PositionOf(address uint64) Position { return Position{address, NoViews} }
