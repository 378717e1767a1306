package syntax

// statements parses what is between braces.
func (p *parser) statements(in string) []*Stmt {
	defer p.enter()()
	p.expect("{", in)
	list := []*Stmt{}
	for !p.is("}") {
		if p.accept(";") {
			continue
		}
		s := p.stmt()
		list = append(list, s)
		if !needsSemicolon(s) || p.accept(";") {
			continue
		}
		if !p.is("}") {
			p.unexpected("; expected after a statement")
		}
	}
	p.advance()
	return list
}

func needsSemicolon(s *Stmt) bool {
	switch s.Kind {
	case IfStmt, WhileStmt, RangeStmt, MapRangeStmt, UnrollStmt, BlockStmt:
		return false
	}
	return true
}

func (p *parser) stmt() *Stmt {
	defer p.enter()()
	s := &Stmt{Span: p.tok.Span}
	switch {
	case p.is("{"):
		s.Kind, s.Body = BlockStmt, p.statements("a block")
	case p.accept("if"):
		p.ifStmt(s)
	case p.accept("while"):
		s.Kind, s.X = WhileStmt, p.condition("while")
		s.Body = p.statements("while")
	case p.accept("for"):
		p.forStmt(s)
	case p.accept("unroll"):
		s.Kind, s.X = UnrollStmt, p.condition("unroll")
		s.Body = p.statements("unroll")
	case p.accept("break"):
		s.Kind = BreakStmt
	case p.accept("continue"):
		s.Kind = ContinueStmt
	case p.accept("return"):
		s.Kind = ReturnStmt
		if !p.is(";") && !p.is("}") {
			p.fail(p.tok.Span, "write return alone, or exit(CODE) for an exit status", "return with a value")
		}
	case p.accept("let"):
		p.letStmt(s)
	default:
		p.simple(s)
	}
	return s
}

// condition parses the parenthesized expression of a statement.
func (p *parser) condition(in string) *Expr {
	p.expect("(", in)
	x := p.expr()
	p.expect(")", in)
	return x
}

func (p *parser) ifStmt(s *Stmt) {
	s.Kind = IfStmt
	if p.is("(") {
		s.X = p.condition("if")
	} else {
		s.X = p.expr()
	}
	s.Body = p.statements("if")
	if !p.is("else") {
		return
	}
	p.advance()
	if p.is("if") {
		s.Else = []*Stmt{p.stmt()}
		return
	}
	s.Else = p.statements("else")
}

// forStmt parses for ($i : a..b) and for ($kv : @map), with or without parentheses.
func (p *parser) forStmt(s *Stmt) {
	paren := p.accept("(")
	if p.tok.Kind != Var {
		p.fail(p.tok.Span, "write for ($i : 0..10) or for ($kv : @map)", "for needs a variable")
	}
	s.Target = &Expr{Kind: VarExpr, Span: p.tok.Span, Name: p.tok.Text}
	p.advance()
	if p.is("=") {
		p.fail(p.tok.Span, "write for ($i : 0..10)", "C's for loop")
	}
	p.expect(":", "for")
	s.X = p.unary()
	s.Kind = MapRangeStmt
	if p.accept("..") {
		s.Kind, s.To = RangeStmt, p.unary()
	} else if s.X.Kind != MapExpr || len(s.X.Args) > 0 {
		p.fail(s.X.Span, "write for ($i : 0..10) or for ($kv : @map)", "for needs a range or a map")
	}
	if paren {
		p.expect(")", "for")
	}
	s.Body = p.statements("for")
}

func (p *parser) letStmt(s *Stmt) {
	s.Kind = LetStmt
	if p.tok.Kind != Var {
		p.fail(p.tok.Span, "declare maps with let outside of action blocks; here write let $name", "let needs a variable")
	}
	s.Target = &Expr{Kind: VarExpr, Span: p.tok.Span, Name: p.tok.Text}
	s.End = p.tok.End
	p.advance()
	if p.accept(":") {
		if s.Type = p.typeName(); s.Type == "" {
			p.unexpected("name of a type expected")
		}
	}
	if p.accept("=") {
		s.X = p.expr()
		s.End = s.X.End
	}
}

var assigns = map[string]bool{
	"=": true, "+=": true, "-=": true, "*=": true, "/=": true, "%=": true, "&=": true, "|=": true, "^=": true, "<<=": true, ">>=": true,
}

// simple parses an expression or an assignment.
func (p *parser) simple(s *Stmt) {
	if p.tok.Kind == Word && p.tok.Text == "_" {
		p.advance()
		p.expect("=", "a discarded expression")
		s.Op, s.X = "_", p.expr()
		s.End = s.X.End
		return
	}
	x := p.expr()
	s.X, s.End = x, x.End
	if p.tok.Kind != Punct || !assigns[p.tok.Text] {
		return
	}
	if x.Kind != VarExpr && x.Kind != MapExpr {
		p.fail(x.Span, "assign to $name or to @name[key]", "assignment to something else than a variable or map")
	}
	s.Kind, s.Target, s.Op = AssignStmt, x, p.tok.Text
	p.advance()
	s.X = p.expr()
	s.End = s.X.End
}
