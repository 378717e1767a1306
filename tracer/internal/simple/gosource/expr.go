package gosource

import (
	"go/ast"
	"go/token"
)

// plain are functions that every file has and whose calls the compiler makes none of, and the
// basic types: a call of one is a conversion.
var plain = map[string]bool{
	"len": true, "cap": true, "real": true, "imag": true, "complex": true, "min": true, "max": true,
	"bool": true, "byte": true, "rune": true, "uintptr": true, "any": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float32": true, "float64": true, "complex64": true, "complex128": true,
}

// mayCall reports whether a call expression may be a call of a function.
func mayCall(e *ast.CallExpr) bool {
	switch x := ast.Unparen(e.Fun).(type) {
	case *ast.Ident:
		return !plain[x.Name]
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.FuncType, *ast.InterfaceType, *ast.StarExpr:
		return false
	}
	return true
}

// stores reports whether a statement stores to what may be memory, with code that belongs to
// no condition: append has that for when there is room and when there is none.
func stores(s ast.Stmt) bool {
	var targets []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		targets = s.Lhs
		if s.Tok == token.DEFINE {
			return false
		}
	case *ast.IncDecStmt:
		targets = []ast.Expr{s.X}
	default:
		return false
	}
	// With several targets a variable may have its new value ahead of the store.
	if len(targets) != 1 {
		return false
	}
	if id, ok := targets[0].(*ast.Ident); ok && id.Name == "_" {
		return false
	}
	appends := false
	within(s, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok && mayCall(c) {
			appends = true
		}
	})
	return !appends
}

// assigns returns the variables that a statement sets, if it does nothing else and cannot
// fail.
func assigns(s ast.Stmt) (names []string, harmless bool) {
	var left, right []ast.Expr
	switch s := s.(type) {
	case *ast.AssignStmt:
		switch s.Tok {
		case token.QUO_ASSIGN, token.REM_ASSIGN, token.SHL_ASSIGN, token.SHR_ASSIGN:
			return nil, false
		}
		left, right = s.Lhs, s.Rhs
	case *ast.IncDecStmt:
		left = []ast.Expr{s.X}
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok {
				return nil, false
			}
			for _, id := range v.Names {
				left = append(left, id)
			}
			right = append(right, v.Values...)
		}
	default:
		return nil, false
	}
	for _, e := range left {
		id, ok := e.(*ast.Ident)
		if !ok {
			return nil, false
		}
		names = append(names, id.Name)
	}
	for _, e := range right {
		if !cannotFail(e) {
			return nil, false
		}
	}
	return names, true
}

// cannotFail reports whether evaluating an expression always comes to an end, whatever its
// types are.
func cannotFail(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	case *ast.ParenExpr:
		return cannotFail(e.X)
	case *ast.UnaryExpr:
		return e.Op != token.ARROW && e.Op != token.AND && cannotFail(e.X)
	case *ast.BinaryExpr:
		switch e.Op {
		case token.ADD, token.SUB, token.MUL, token.AND, token.OR, token.XOR, token.AND_NOT:
			return cannotFail(e.X) && cannotFail(e.Y)
		}
	}
	return false
}
