package vet

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/types/typeutil"
)

// free are the builtin functions that are an instruction or two.
var free = map[string]bool{
	"len": true, "cap": true, "min": true, "max": true, "real": true, "imag": true, "complex": true,
	"Add": true, "Slice": true, "SliceData": true, "String": true, "StringData": true, // of unsafe
}

// isFree reports whether the compiler makes an instruction of a call rather than a call.
// Short functions are inlined too, but which those are changes with every release.
func isFree(info *types.Info, call *ast.CallExpr) bool {
	switch fn := typeutil.Callee(info, call).(type) {
	case *types.Builtin:
		return free[fn.Name()]
	case *types.Func:
		if fn.Pkg() == nil {
			return false
		}
		if isTextOf(fn) {
			return true
		}
		switch fn.Pkg().Path() {
		case "sync/atomic":
			return strings.HasPrefix(fn.Name(), "Load")
		case "math":
			return strings.HasSuffix(fn.Name(), "bits") // Float64bits, Float64frombits, …
		}
		_, _, name := method(info, call)
		return name == "Enabled"
	}
	return false
}

// isTextOf reports whether fn is marker.TextOf, which does no work before the marker's test.
func isTextOf(fn *types.Func) bool {
	return fn.Name() == "TextOf" && fn.Pkg() != nil && fn.Pkg().Path() == module+"marker"
}

// captures reports whether a function literal uses variables of the function around it:
// others are laid out by the compiler.
func captures(info *types.Info, lit *ast.FuncLit) bool {
	found := false
	ast.Inspect(lit.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			v, ok := info.Uses[id].(*types.Var)
			found = found || ok && isLocal(v) && (v.Pos() < lit.Pos() || v.Pos() > lit.End())
		}
		return !found
	})
	return found
}
