package filter

import (
	"cmp"
	"math"

	"github.com/waymark-trace/waymark/event"
)

// Value is the value of a variable.
type Value struct {
	// Bits holds integers, extended to 64 bits by sign, booleans and the raw bits of floats.
	Bits uint64
	Text []byte // of kinds with a length: all of it, or its first MaxText+1 bytes
}

// Eval decides the condition. get returns the value of a variable; ok is false when it could not be read.
func (f *Filter) Eval(get func(variable int) (v Value, ok bool)) bool {
	return (&evaluation{f, get}).condition(f.Root)
}

// EvalNode decides a part of the condition.
func (f *Filter) EvalNode(n *Node, get func(variable int) (v Value, ok bool)) bool {
	return (&evaluation{f, get}).condition(n)
}

type evaluation struct {
	*Filter
	get func(int) (Value, bool)
}

func (e *evaluation) condition(n *Node) bool {
	switch n.Op {
	case Or:
		return e.condition(n.X) || e.condition(n.Y)
	case And:
		return e.condition(n.X) && e.condition(n.Y)
	case Not:
		return !e.condition(n.X)
	}
	if !n.Op.IsComparison() {
		v, ok := e.value(n)
		return ok && v.Bits != 0
	}
	x, ok := e.value(n.X)
	if !ok {
		return false
	}
	if n.Y.Op == Text {
		return e.Patterns[n.Pattern].Match(x.Text) == (n.Op == Eq || n.Op == Match)
	}
	y, ok := e.value(n.Y)
	if !ok {
		return false
	}
	switch k := n.X.Kind; {
	case k == event.Bool:
		return (x.Bits != 0) == (y.Bits != 0) == (n.Op == Eq)
	case k.IsFloat():
		a, b := float(k, x.Bits), float(k, y.Bits)
		if a != a || b != b {
			return n.Op == Ne
		}
		return holds(n.Op, cmp.Compare(a, b))
	}
	return holds(n.Op, compareIntegers(x.Bits, n.X.Kind.Signed(), y.Bits, n.Y.Kind.Signed()))
}

func (e *evaluation) value(n *Node) (v Value, ok bool) {
	switch n.Op {
	case Name:
		return e.get(n.Var)
	case Int, Float, Bool:
		return Value{Bits: n.Bits}, true
	}
	x, ok := e.value(n.X)
	if !ok {
		return v, false
	}
	y, ok := e.value(n.Y)
	switch n.Op {
	case BitAnd:
		v.Bits = x.Bits & y.Bits
	case Add:
		v.Bits = x.Bits + y.Bits
	case Sub:
		v.Bits = x.Bits - y.Bits
	}
	return v, ok
}

// compareIntegers compares as numbers: -1 is less than 1<<63.
func compareIntegers(x uint64, xSigned bool, y uint64, ySigned bool) int {
	xNegative, yNegative := xSigned && int64(x) < 0, ySigned && int64(y) < 0
	switch {
	case xNegative == yNegative:
		return cmp.Compare(x, y) // of two negative numbers, too, in two's complement
	case xNegative:
		return -1
	}
	return 1
}

// holds reports whether op is true of two values that compare as order says.
func holds(op Op, order int) bool {
	switch op {
	case Eq:
		return order == 0
	case Ne:
		return order != 0
	case Lt:
		return order < 0
	case Le:
		return order <= 0
	case Gt:
		return order > 0
	}
	return order >= 0
}

func float(k event.Kind, bits uint64) float64 {
	if k == event.Float32 {
		return float64(math.Float32frombits(uint32(bits)))
	}
	return math.Float64frombits(bits)
}
