package filter

import (
	"fmt"
	"math"
	"strings"

	"github.com/waymark-trace/waymark/event"
)

// Filter is a condition bound to the values of one place in a program.
type Filter struct {
	Root *Node
	// Vars are the values that it asks for.
	Vars []Var
	// Patterns are those of its expression.
	Patterns []*Pattern
}

// Var is a value that a condition asks for.
type Var struct {
	Name string
	Kind event.Kind
}

// Bind resolves the names of a condition and checks types. lookup returns a value's kind, and
// field.Invalid for one that this place does not have though others of the marker do: what is
// compared with it is false. Its error, an *Error without a column, says that there is no such
// name.
func (e *Expr) Bind(lookup func(name string) (event.Kind, error)) (*Filter, error) {
	b := &binder{lookup: lookup, f: &Filter{Patterns: e.Patterns}, known: map[string]int{}}
	var err error
	b.f.Root, err = b.condition(e.root)
	return b.f, err
}

type binder struct {
	lookup func(string) (event.Kind, error)
	f      *Filter
	known  map[string]int
}

var never = &Node{Op: Bool, Kind: event.Bool}

func (b *binder) condition(n *Node) (*Node, error) {
	bound := *n
	var err error
	switch {
	case n.Op == Or || n.Op == And:
		if bound.X, err = b.condition(n.X); err == nil {
			bound.Y, err = b.condition(n.Y)
		}
		bound.Kind = event.Bool
		return &bound, err
	case n.Op == Not:
		bound.X, err = b.condition(n.X)
		bound.Kind = event.Bool
		return &bound, err
	case n.Op.IsComparison():
		return b.compare(n)
	}
	x, err := b.operand(n)
	switch {
	case err != nil:
		return nil, err
	case x.Kind == event.Invalid:
		return never, nil
	case x.Kind != event.Bool:
		return nil, n.errorf("compare it with something, as in arg1 != 0", "%s is no condition", n.what(x.Kind))
	}
	return x, nil
}

// operand binds what has a value. Its kind is field.Invalid when that is missing here.
func (b *binder) operand(n *Node) (*Node, error) {
	bound := *n
	switch n.Op {
	case Int, Float, Text, Bool:
		return &bound, nil
	case Name:
		i, ok := b.known[n.text]
		if !ok {
			k, err := b.lookup(n.text)
			if err != nil {
				if e, ok := err.(*Error); ok {
					e.Column = n.column
				}
				return nil, err
			}
			if k == event.Pointer {
				k = event.Uintptr
			}
			i = len(b.f.Vars)
			b.known[n.text] = i
			b.f.Vars = append(b.f.Vars, Var{n.text, k})
		}
		bound.Var, bound.Kind = i, b.f.Vars[i].Kind
		return &bound, nil
	case BitAnd, Add, Sub:
		return b.arithmetic(&bound)
	}
	return nil, n.errorf("join conditions by && and ||", "a condition is no value to compare or to reckon with")
}

// arithmetic is done in 64 bits and wraps around. A sum or difference is signed, so that the
// difference of two times can be negative; of & the sides say. A sum with a duration is one.
func (b *binder) arithmetic(n *Node) (*Node, error) {
	var err error
	if n.X, err = b.operand(n.X); err != nil {
		return nil, err
	}
	if n.Y, err = b.operand(n.Y); err != nil {
		return nil, err
	}
	n.Kind = event.Int64
	for _, side := range []*Node{n.X, n.Y} {
		if !side.Kind.IsInteger() && side.Kind != event.Invalid {
			return nil, side.errorf("", "%s is not an integer, and %s needs two", side.what(side.Kind), n.Op)
		}
		if n.Op == BitAnd && !side.Kind.Signed() {
			n.Kind = event.Uint64
		}
		if n.Op != BitAnd && side.Kind == event.Duration {
			n.Kind = event.Duration
		}
	}
	if err := durations(n.X, n.Y); err != nil {
		return nil, err
	}
	if n.X.Kind == event.Invalid || n.Y.Kind == event.Invalid {
		n.Kind = event.Invalid
	}
	if n.slots() > MaxDepth {
		return nil, n.errorf("write it with fewer parentheses", "more than %d numbers have to be kept at a time", MaxDepth)
	}
	return n, nil
}

// slots is how many numbers have to be kept while the node is reckoned from the left.
func (n *Node) slots() int {
	if n.X == nil || n.Y == nil {
		return 0
	}
	return max(n.X.slots(), 1+n.Y.slots())
}

func (b *binder) compare(n *Node) (*Node, error) {
	bound := *n
	var err error
	if bound.X, err = b.operand(n.X); err != nil {
		return nil, err
	}
	if bound.Y, err = b.operand(n.Y); err != nil {
		return nil, err
	}
	bound.Kind = event.Bool
	x, y := bound.X, bound.Y
	switch {
	case x.Kind == event.Invalid || y.Kind == event.Invalid:
		return never, nil
	case y.Op == Text:
		if !x.Kind.HasLength() {
			return nil, x.textHint()
		}
	case x.Kind.HasLength() || y.Kind.HasLength():
		return nil, n.errorf("write the text in quotes", "%s and %s: a text is compared with one in quotes", x.what(x.Kind), y.what(y.Kind))
	case n.Op == Match || n.Op == NoMatch:
		return nil, n.errorf("write the pattern in quotes", "%s is followed by no pattern", n.Op)
	case durations(x, y) != nil:
		return nil, durations(x, y)
	case x.Kind == event.Bool && y.Kind == event.Bool:
		if n.Op != Eq && n.Op != Ne {
			return nil, n.errorf("", "%s does not compare what is true or false", n.Op)
		}
	case x.Kind.IsFloat() || y.Kind.IsFloat():
		return &bound, bound.floats()
	case !x.Kind.IsInteger() || !y.Kind.IsInteger():
		return nil, n.errorf("", "%s and %s cannot be compared", x.what(x.Kind), y.what(y.Kind))
	case bound.slots() > MaxDepth:
		return nil, n.errorf("write it with fewer parentheses", "more than %d numbers have to be kept at a time", MaxDepth)
	}
	return &bound, nil
}

// durations returns an error if the condition compares a duration with a value of unknown unit.
func durations(x, y *Node) error {
	if x.Op == Int && x.Kind == event.Duration {
		x, y = y, x
	}
	if y.Op != Int || y.Kind != event.Duration || x.Kind == event.Duration || x.Op == Int || x.Kind == event.Invalid {
		return nil
	}
	return y.errorf(fmt.Sprintf("write a number in its own unit: %s is %d nanoseconds", y.text, int64(y.Bits)), "%s is no duration", x.what(x.Kind))
}

// floats checks a comparison of floating-point numbers: a value with a literal, or two values of
// one size. The literal becomes one of the value's size.
func (n *Node) floats() error {
	x, y := n.X, n.Y
	switch {
	case x.Op == Name && x.Kind.IsFloat() && (y.Op == Int || y.Op == Float):
		v := math.Float64frombits(y.Bits)
		if y.Op == Int {
			v = float64(y.Bits)
			if y.Kind.Signed() {
				v = float64(int64(y.Bits))
			}
		}
		n.Y = &Node{Op: Float, Kind: x.Kind, Bits: math.Float64bits(v), column: y.column}
		if x.Kind == event.Float32 {
			n.Y.Bits = uint64(math.Float32bits(narrow(n.Op, v)))
		}
		return nil
	case x.Op == Name && y.Op == Name && x.Kind == y.Kind:
		return nil
	case x.Kind == event.Duration && y.Op == Float:
		return y.errorf("write it with its unit, as in 1.5ms", "%s is a whole number of nanoseconds, and never %v", x.what(x.Kind), math.Float64frombits(y.Bits))
	case x.Kind.IsInteger() && y.Op == Float:
		return y.errorf("write an integer", "%s is an integer, and never %v", x.what(x.Kind), math.Float64frombits(y.Bits))
	}
	return n.errorf("", "a floating-point number is compared with one that is written here, or with another of its size")
}

// narrow returns the float32 with which a float32 compares as it does with v.
func narrow(op Op, v float64) float32 {
	f := float32(v) // the nearest one
	switch {
	case float64(f) == v || v != v:
	case op == Eq || op == Ne:
		f = float32(math.NaN()) // equal to none
	case (op == Lt || op == Ge) && float64(f) < v:
		f = math.Nextafter32(f, float32(math.Inf(1)))
	case (op == Gt || op == Le) && float64(f) > v:
		f = math.Nextafter32(f, float32(math.Inf(-1)))
	}
	return f
}

func (n *Node) textHint() error {
	if n.Kind == event.Duration {
		return n.errorf("write it without quotes, as in took > 3ms", "%s is a duration, not a text", n.text)
	}
	if n.Op == Name && n.Kind.IsInteger() && !strings.HasPrefix(n.text, "arg") {
		return n.errorf("", "%s is a number, not a text", n.text)
	}
	if n.Op == Name && n.Kind.IsInteger() {
		return n.errorf("if it points to a text: --str "+n.text, "%s is a number, not a text", n.text)
	}
	return n.errorf("", "%s is not a text", n.what(n.Kind))
}

// what names a node in a message.
func (n *Node) what(k event.Kind) string {
	switch {
	case n.Op == Name:
		return n.text + ", a value of kind " + k.String() + ","
	case n.Op == Text:
		return "a text"
	case k.IsFloat():
		return "a floating-point number"
	}
	return "a number"
}

// compile makes the patterns of a condition, and puts literals to the right.
func (e *Expr) compile(n *Node) error {
	if n == nil {
		return nil
	}
	if err := e.compile(n.X); err != nil {
		return err
	}
	if err := e.compile(n.Y); err != nil || !n.Op.IsComparison() {
		return err
	}
	if n.X.isLiteral() && !n.Y.isLiteral() && n.Op != Match && n.Op != NoMatch {
		n.Op, n.X, n.Y = n.Op.mirror(), n.Y, n.X
	}
	if n.X.Op == Text {
		return n.errorf("write the field's name first", "%s has no field on its left, but a text", n.Op)
	}
	if n.Y.Op != Text {
		return nil
	}
	var p *Pattern
	var err error
	switch n.Op {
	case Eq, Ne:
		p, err = literal(n.Y.text)
	case Match, NoMatch:
		p, err = glob(n.Y.text)
	default:
		return n.errorf("texts are compared by ==, != and ~", "%s does not compare texts", n.Op)
	}
	if err != nil {
		return n.Y.errorf("", "text %.80q: %v", n.Y.text, err)
	}
	if len(e.Patterns) == maxPatterns {
		return n.Y.errorf("join some to one pattern", "more than %d texts", maxPatterns)
	}
	n.Pattern = len(e.Patterns)
	e.Patterns = append(e.Patterns, p)
	return nil
}

func (n *Node) isLiteral() bool { return n.Op >= Int }
