package debuginfo

// Position is a position in the code, at the resolution of the debugging information.
//
// Statements without an instruction between them have the same address. gcc numbers them from 0 and
// calls them views of the address, in the line table and in location lists (A. Oliva, "Location
// Views", 2017). Without views, the values at an address are those after its last statement.
type Position struct {
	Address uint64
	// Views are the first and the last view that the position includes. -1 is before all views. The
	// value is NoViews if they are unknown.
	Views [2]int
}

// NoView is an unknown view.
const NoView = -2

// NoViews are the views of a position with only an address.
var NoViews = [2]int{NoView, NoView}

// PositionOf returns the position of an address without views.
func PositionOf(address uint64) Position { return Position{address, NoViews} }
