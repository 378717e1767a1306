package filter

import (
	"math"

	"github.com/waymark-trace/waymark/event"
)

// Test is a step of a condition: it holds or it does not, and that says which step is next.
type Test struct {
	// Var is the integer or boolean that it looks at, when there is no Node. It holds when the variable lies in a
	// range, in 64 bits that wrap around: value - Low <= Span. That is every comparison with a literal, of signed values too.
	Var       int
	Low, Span uint64
	Node      *Node // anything else, for EvalNode
	// Yes and No are the numbers of the next step, or Accept or Reject.
	Yes, No int
}

// Ends of a condition.
const (
	Accept = -1 - iota
	Reject
)

// Tests returns the condition as steps, of which the first is number 0. A step leads to later ones only. They decide what Eval
// does of variables that can all be read, at less cost where the caller has a faster way to them than by a call.
func (f *Filter) Tests() []Test {
	c := &stepper{f: f}
	first := c.condition(f.Root, Accept, Reject)
	if first < 0 { // decided without a look
		return []Test{{Node: f.Root, Yes: Accept, No: Reject}}
	}
	// They were written from the last to the first. Behind the first are those of parts that are never looked at.
	n := first + 1
	at := func(step int) int {
		if step < 0 {
			return step
		}
		return n - 1 - step
	}
	all := make([]Test, n)
	for i, t := range c.tests[:n] {
		t.Yes, t.No = at(t.Yes), at(t.No)
		all[at(i)] = t
	}
	return all
}

// stepper writes steps, each behind those that it leads to.
type stepper struct {
	f     *Filter
	tests []Test
}

// condition returns the number of the step with which n begins.
func (c *stepper) condition(n *Node, yes, no int) int {
	switch n.Op {
	case Or:
		return c.condition(n.X, yes, c.condition(n.Y, yes, no))
	case And:
		return c.condition(n.X, c.condition(n.Y, yes, no), no)
	case Not:
		return c.condition(n.X, no, yes)
	}
	t := Test{Node: n, Yes: yes, No: no}
	if n.Op == Name && n.Kind == event.Bool {
		t = Test{Var: n.Var, Low: 1, Span: math.MaxUint64 - 1, Yes: yes, No: no}
	} else if n.Op.IsComparison() && n.X.Op == Name && n.X.Kind.IsInteger() && n.Y.Op == Int {
		t.Var = n.X.Var
		low, span, some := n.rangeOf()
		if n.Op == Ne {
			t.Yes, t.No = no, yes
		}
		if !some {
			return t.No
		}
		t.Node, t.Low, t.Span = nil, low, span
	}
	c.tests = append(c.tests, t)
	return len(c.tests) - 1
}

// rangeOf returns which values of the left side's kind compare with the literal on the right as the operator says, for != those
// that do not; false: none.
func (n *Node) rangeOf() (low, span uint64, some bool) {
	least, most := uint64(0), uint64(math.MaxUint64)
	signed := n.X.Kind.Signed()
	if signed {
		least, most = 1<<63, math.MaxInt64
	}
	literal := n.Y.Bits
	switch side := compareIntegers(literal, n.Y.Kind.Signed(), least, signed); {
	case side < 0: // every value is greater
		return least, math.MaxUint64, n.Op == Gt || n.Op == Ge
	case compareIntegers(literal, n.Y.Kind.Signed(), most, signed) > 0:
		return least, math.MaxUint64, n.Op == Lt || n.Op == Le
	}
	switch n.Op {
	case Lt:
		return least, literal - 1 - least, literal != least
	case Le:
		return least, literal - least, true
	case Gt:
		return literal + 1, most - literal - 1, literal != most
	case Ge:
		return literal, most - literal, true
	}
	return literal, 0, true // Eq, Ne
}
