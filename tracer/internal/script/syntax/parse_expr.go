package syntax

import "strings"

// levels are the binary operators from the weakest to the strongest, as in C.
var levels = [][]string{
	{"||"}, {"&&"}, {"|"}, {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

// expr parses an expression.
func (p *parser) expr() *Expr {
	defer p.enter()()
	x := p.binary(0)
	if !p.accept("?") {
		return x
	}
	yes := p.expr()
	p.expect(":", "the ternary operator")
	no := p.expr()
	return &Expr{Kind: TernaryExpr, Span: Span{x.Begin, no.End}, Args: []*Expr{x, yes, no}}
}

// binary parses operators of a level and of stronger ones.
func (p *parser) binary(level int) *Expr {
	if level == len(levels) {
		return p.unary()
	}
	x := p.binary(level + 1)
	for {
		op := p.operator(levels[level])
		if op == "" {
			return x
		}
		p.nodes++ // a long chain is not nested
		if p.nodes > maxNodes {
			p.enter()
		}
		p.advance()
		y := p.binary(level + 1)
		x = &Expr{Kind: BinaryExpr, Span: Span{x.Begin, y.End}, Name: op, Args: []*Expr{x, y}}
	}
}

func (p *parser) operator(ops []string) string {
	if p.tok.Kind != Punct {
		return ""
	}
	for _, op := range ops {
		if p.tok.Text == op {
			if op == "/" && p.predicate && p.endsPredicate() {
				return ""
			}
			return op
		}
	}
	return ""
}

// endsPredicate reports whether the slash that is the current token is followed by an action block.
func (p *parser) endsPredicate() bool {
	next := p.lexer
	next.skip()
	return strings.HasPrefix(next.file.Text[next.pos:], "{")
}

// unary parses prefix operators and casts.
func (p *parser) unary() *Expr {
	defer p.enter()()
	t := p.tok
	if t.Kind == Punct {
		switch t.Text {
		case "-", "!", "~", "+":
			p.advance()
			x := p.unary()
			if t.Text == "+" {
				return x
			}
			return &Expr{Kind: UnaryExpr, Span: Span{t.Begin, x.End}, Name: t.Text, Args: []*Expr{x}}
		case "++", "--":
			p.advance()
			x := p.unary()
			return &Expr{Kind: StepExpr, Span: Span{t.Begin, x.End}, Name: t.Text, Value: 1, Args: []*Expr{x}}
		case "*":
			p.fail(t.Span, "name a field, as args.NAME; str(args.NAME) is its text", "pointer dereference")
		case "&":
			p.fail(t.Span, "use the value itself", "address-of operator")
		}
	}
	return p.postfix(p.primary())
}

func (p *parser) primary() *Expr {
	t := p.tok
	x := &Expr{Span: t.Span, Name: t.Text, Value: t.Value}
	switch t.Kind {
	case Int:
		x.Kind = IntExpr
	case Str:
		x.Kind = StrExpr
	case Var:
		x.Kind = VarExpr
	case Param:
		x.Kind = ParamExpr
	case Count:
		x.Kind = CountExpr
	case Map:
		return p.mapExpr()
	case Word:
		return p.word()
	default:
		if t.Text == "(" {
			return p.parenthesized()
		}
		if t.Text == "{" {
			p.fail(t.Span, "assign the value to a variable before", "block expression")
		}
		p.unexpected("an expression expected")
	}
	p.advance()
	return x
}

// refusedWords are keywords of bpftrace's expressions that are refused wherever they stand.
var refusedWords = map[string]string{
	"sizeof":   "write the number",
	"offsetof": "name the field, as args.NAME",
	"typeof":   "write the name of the type",
	"typeinfo": "write the name of the type",
	"struct":   "name the fields of a marker, as args.NAME",
	"union":    "name the fields of a marker, as args.NAME",
	"enum":     "write the number",
	"if":       "use the ternary operator: CONDITION ? A : B",
}

func (p *parser) word() *Expr {
	t := p.tok
	if hint, ok := refusedWords[t.Text]; ok {
		p.fail(t.Span, hint, "%s is not part of the language", t.Text)
	}
	p.advance()
	x := &Expr{Kind: WordExpr, Span: t.Span, Name: t.Text}
	switch {
	case t.Text == "true" || t.Text == "false":
		x.Kind = BoolExpr
		if t.Text == "true" {
			x.Value = 1
		}
	case p.is("!") && strings.HasPrefix(p.file.Text[p.tok.End:], "("):
		p.fail(t.Span, "write the statements where they are needed", "macro call")
	case p.is("("):
		x.Kind = CallExpr
		x.Args, x.End = p.list(")")
	}
	return x
}

// list parses expressions up to a closing delimiter, which it passes, and returns them and where it ends.
func (p *parser) list(end string) ([]*Expr, int) {
	p.advance()
	var args []*Expr
	for !p.is(end) {
		args = append(args, p.expr())
		if !p.accept(",") && !p.is(end) {
			p.unexpected(", or %s expected", end)
		}
	}
	at := p.tok.End
	p.advance()
	return args, at
}

func (p *parser) mapExpr() *Expr {
	x := &Expr{Kind: MapExpr, Span: p.tok.Span, Name: p.tok.Text}
	p.advance()
	if !p.is("[") {
		return x
	}
	open := p.tok.Span
	if x.Args, x.End = p.list("]"); len(x.Args) == 0 {
		p.fail(open, "write the map without brackets, or with a key", "map with an empty key")
	}
	if len(x.Args) == 1 && x.Args[0].Kind == TupleExpr { // @m[(a, b)] is @m[a, b]
		x.Args = x.Args[0].Args
	}
	return x
}

// parenthesized parses a cast, a tuple, or an expression.
func (p *parser) parenthesized() *Expr {
	begin := p.tok.Begin
	open := *p
	p.advance()
	if name := p.typeName(); name != "" && p.accept(")") {
		x := p.unary()
		return &Expr{Kind: CastExpr, Span: Span{begin, x.End}, Name: name, Args: []*Expr{x}}
	}
	*p = open
	p.advance()
	predicate := p.predicate
	p.predicate = false
	defer func() { p.predicate = predicate }()
	if p.is(")") {
		p.fail(Span{begin, p.tok.End}, "", "empty tuple")
	}
	x := p.expr()
	if !p.is(",") {
		p.expect(")", "parentheses")
		return x
	}
	args := []*Expr{x}
	for p.accept(",") && !p.is(")") {
		args = append(args, p.expr())
	}
	end := p.tok.End
	p.expect(")", "a tuple")
	return &Expr{Kind: TupleExpr, Span: Span{begin, end}, Args: args}
}

// typeNames are the names of types that a cast may have, and the names of this language for them.
var typeNames = map[string]string{
	"int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64",
	"uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64",
	"int8_t": "int8", "int16_t": "int16", "int32_t": "int32", "int64_t": "int64",
	"uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "uint64_t": "uint64",
	"bool": "bool", "string": "string",
	"char": "int8", "short": "int16", "int": "int32", "long": "int64",
}

// typeName parses the name of a type, and returns "" if there is none.
func (p *parser) typeName() string {
	if p.tok.Kind != Word {
		return ""
	}
	t := p.tok
	if t.Text == "struct" || t.Text == "union" || t.Text == "enum" || t.Text == "unsigned" || t.Text == "signed" || t.Text == "void" || t.Text == "buffer" {
		p.fail(t.Span, "cast to int8 … int64, uint8 … uint64 or bool", "cast to a C type")
	}
	name := typeNames[t.Text]
	if name == "" {
		return ""
	}
	p.advance()
	switch {
	case p.is("*"):
		p.fail(p.tok.Span, "name a field, as args.NAME", "pointer type")
	case p.is("["):
		p.fail(p.tok.Span, "cast to int8 … int64, uint8 … uint64 or bool", "array type")
	}
	return name
}

// postfix parses what follows an operand.
func (p *parser) postfix(x *Expr) *Expr {
	for {
		t := p.tok
		switch {
		case p.is("++") || p.is("--"):
			p.advance()
			x = &Expr{Kind: StepExpr, Span: Span{x.Begin, t.End}, Name: t.Text, Args: []*Expr{x}}
		case p.is(".") || p.is("->"):
			p.advance()
			n := p.tok
			y := &Expr{Kind: FieldExpr, Span: Span{x.Begin, n.End}, Name: n.Text, Args: []*Expr{x}}
			switch n.Kind {
			case Int:
				y.Kind, y.Value = ElemExpr, n.Value
			case Word:
			default:
				p.unexpected("name of a field or number of an element expected")
			}
			p.advance()
			x = y
		case p.is("["):
			args, end := p.list("]")
			if len(args) != 1 || args[0].Kind != IntExpr {
				p.fail(Span{t.Begin, end}, "write a number, as in $tuple[0]", "index of a tuple that is not a number")
			}
			x = &Expr{Kind: ElemExpr, Span: Span{x.Begin, end}, Value: args[0].Value, Args: []*Expr{x}}
		default:
			return x
		}
		if p.nodes++; p.nodes > maxNodes {
			p.enter()
		}
	}
}
