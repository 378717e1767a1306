package filter

import (
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/event"
)

// Expr is a condition that was read, and knows no marker yet.
type Expr struct {
	root *Node
	// Patterns are what its texts are compared with.
	Patterns []*Pattern
}

// Parse reads a condition. What is wrong with it is an *Error.
//
//	or      = and { "||" and }
//	and     = not { "&&" not }
//	not     = "!" not | compare
//	compare = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~" ) sum ]
//	sum     = product { ( "+" | "-" ) product }
//	product = operand { "&" operand }
//	operand = name | [ "-" ] number | [ "-" ] duration | character | text | "true" | "false" | "(" or ")"
func Parse(s string) (*Expr, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	root, err := p.or()
	if err == nil && p.peek().sort != end {
		err = p.unexpected("an operator such as == or &&")
	}
	if err != nil {
		return nil, err
	}
	e := &Expr{root: root}
	return e, e.compile(root)
}

// ComparesText reports whether the expression compares a name with a text.
func (e *Expr) ComparesText(name string) bool {
	var walk func(*Node) bool
	walk = func(n *Node) bool {
		if n == nil {
			return false
		}
		text := n.Op.IsComparison() && n.Y.Op == Text && n.X.Op == Name && n.X.text == name
		return text || walk(n.X) || walk(n.Y)
	}
	return walk(e.root)
}

// Names returns the names in the expression, in their order, each as often as it is there.
func (e *Expr) Names() (names []string) {
	var walk func(*Node)
	walk = func(n *Node) {
		if n == nil {
			return
		}
		if n.Op == Name {
			names = append(names, n.text)
		}
		walk(n.X)
		walk(n.Y)
	}
	walk(e.root)
	return names
}

type parser struct {
	tokens         []token
	nodes, nesting int
}

func (p *parser) peek() *token { return &p.tokens[0] }

// accept takes the next token if it is one of these signs.
func (p *parser) accept(signs ...string) *token {
	t := p.peek()
	if t.sort != sign || !slices.Contains(signs, t.text) {
		return nil
	}
	p.tokens = p.tokens[1:]
	return t
}

func (p *parser) unexpected(want string) error {
	t := p.peek()
	e := &Error{Column: t.column, Reason: fmt.Sprintf("%s is missing", want)}
	switch {
	case t.sort == sign && t.text == "=":
		e.Hint = "equality is written =="
	case t.sort == sign && t.text == "=~":
		e.Hint = "a pattern follows ~, as in path ~ \"/api/*\""
	case t.sort == name && (t.text == "and" || t.text == "or" || t.text == "not"):
		e.Hint = "and, or, not are written &&, ||, !"
	}
	return e
}

func (p *parser) node(op Op, t *token, x, y *Node) (*Node, error) {
	if p.nodes++; p.nodes > maxNodes {
		return nil, &Error{t.column, fmt.Sprintf("the condition has more than %d operators and operands", maxNodes), "test less"}
	}
	return &Node{Op: op, X: x, Y: y, column: t.column}, nil
}

// chain reads operands joined by operators that group from the left.
func (p *parser) chain(operand func() (*Node, error), ops map[string]Op, signs ...string) (*Node, error) {
	x, err := operand()
	for err == nil {
		t := p.accept(signs...)
		if t == nil {
			return x, nil
		}
		var y *Node
		if y, err = operand(); err == nil {
			x, err = p.node(ops[t.text], t, x, y)
		}
	}
	return nil, err
}

var binary = map[string]Op{
	"||": Or, "&&": And, "==": Eq, "!=": Ne, "<": Lt, "<=": Le, ">": Gt, ">=": Ge,
	"~": Match, "!~": NoMatch, "&": BitAnd, "+": Add, "-": Sub,
}

func (p *parser) or() (*Node, error) {
	if p.nesting++; p.nesting > maxNesting {
		return nil, &Error{Column: p.peek().column, Reason: fmt.Sprintf("more than %d levels are nested", maxNesting)}
	}
	defer func() { p.nesting-- }()
	return p.chain(p.and, binary, "||")
}

func (p *parser) and() (*Node, error) { return p.chain(p.not, binary, "&&") }

func (p *parser) not() (*Node, error) {
	var nots []*token
	for t := p.accept("!"); t != nil; t = p.accept("!") {
		nots = append(nots, t)
	}
	x, err := p.compare()
	for i := len(nots) - 1; i >= 0 && err == nil; i-- {
		x, err = p.node(Not, nots[i], x, nil)
	}
	return x, err
}

func (p *parser) compare() (*Node, error) {
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	t := p.accept("==", "!=", "<", "<=", ">", ">=", "~", "!~")
	if t == nil {
		return x, nil
	}
	y, err := p.sum()
	if err != nil {
		return nil, err
	}
	return p.node(binary[t.text], t, x, y)
}

func (p *parser) sum() (*Node, error) { return p.chain(p.product, binary, "+", "-") }

func (p *parser) product() (*Node, error) { return p.chain(p.operand, binary, "&") }

func (p *parser) operand() (*Node, error) {
	if p.accept("(") != nil {
		x, err := p.or()
		if err == nil && p.accept(")") == nil {
			err = p.unexpected("a closing parenthesis")
		}
		return x, err
	}
	minus := p.accept("-")
	t := p.peek()
	if minus != nil && t.sort != integer && t.sort != decimal && t.sort != duration {
		return nil, p.unexpected("a number after the minus sign")
	}
	if t.sort == end || t.sort == sign {
		return nil, p.unexpected("a name, a number or a text")
	}
	p.tokens = p.tokens[1:]
	n, err := p.node(Name, t, nil, nil)
	if err != nil {
		return nil, err
	}
	n.text, n.Bits = t.text, t.bits
	switch t.sort {
	case text:
		n.Op, n.Kind = Text, event.String
	case integer:
		n.Op, n.Kind = Int, event.Int64
		if t.bits > math.MaxInt64 {
			n.Kind = event.Uint64
		}
		if minus != nil {
			if t.bits > 1<<63 {
				return nil, n.errorf("", "-%s is no number of 64 bits", t.text)
			}
			n.Kind, n.Bits, n.column = event.Int64, -t.bits, minus.column
		}
	case duration:
		n.Op, n.Kind = Int, event.Duration
		if minus != nil {
			n.text, n.Bits, n.column = "-"+t.text, -t.bits, minus.column
		}
	case decimal:
		n.Op, n.Kind = Float, event.Float64
		if minus != nil {
			t.number, n.column = -t.number, minus.column
		}
		n.Bits = math.Float64bits(t.number)
	case name:
		switch t.text {
		case "true":
			n.Op, n.Kind, n.Bits = Bool, event.Bool, 1
		case "false":
			n.Op, n.Kind = Bool, event.Bool
		}
	}
	return n, nil
}
