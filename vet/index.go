package vet

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// index has the results of one walk over a package.
type index struct {
	root    inspector.Cursor
	decls   []*decl
	hits    []*hit
	lookups []*lookup
	simple  []*simpleHit
	flags   map[types.Object]ast.Expr // local variables that remember Enabled
	ignores ignores
}

// decl is a call that makes a point.
type decl struct {
	api    *api
	at     inspector.Cursor
	call   *ast.CallExpr
	name   ast.Expr
	format ast.Expr   // nil for those that have none
	fields []ast.Expr // the names of a tracepoint's arguments, nil if they are not given one by one
}

// hit is a call of Mark or Trace.
type hit struct {
	api   *api
	at    inspector.Cursor
	call  *ast.CallExpr
	point ast.Expr // the receiver of the call
}

// simpleHit is a simple marker.
type simpleHit struct {
	at   inspector.Cursor
	call *ast.CallExpr
}

// lookup is a call that finds a point by its name.
type lookup struct {
	at     inspector.Cursor
	fn     *types.Func
	name   ast.Expr
	format ast.Expr // nil for those that take none
}

// indexer makes the index once for all analyzers. Its result is nil in packages that cannot
// know a point: all but a few, so they must cost nothing.
var indexer = &analysis.Analyzer{
	Name:       "markindex",
	Doc:        "find the markers, tracepoints and keys of a package, and their calls",
	ResultType: reflect.TypeFor[*index](),
	Run: func(pass *analysis.Pass) (any, error) {
		if !knows(pass) {
			return (*index)(nil), nil
		}
		return newIndex(pass), nil
	},
}

func newIndex(pass *analysis.Pass) *index {
	ix := &index{
		root:    inspector.New(pass.Files).Root(),
		flags:   make(map[types.Object]ast.Expr),
		ignores: findIgnores(pass),
	}
	for c := range ix.root.Preorder((*ast.CallExpr)(nil)) {
		ix.add(pass.TypesInfo, c, c.Node().(*ast.CallExpr))
	}
	return ix
}

func (ix *index) add(info *types.Info, at inspector.Cursor, call *ast.CallExpr) {
	if a := constructs(info, call); a != nil {
		d := &decl{api: a, at: at, call: call, name: call.Args[0]}
		switch {
		case a.formatted && len(call.Args) > 1:
			d.format = call.Args[1]
		case a.named && !call.Ellipsis.IsValid():
			d.fields = call.Args[1:]
		}
		ix.decls = append(ix.decls, d)
		return
	}
	if sel, a, name := method(info, call); a != nil {
		switch {
		case name == "Enabled":
			ix.remember(info, at)
		case name == a.hit:
			ix.hits = append(ix.hits, &hit{a, at, call, sel.X})
		}
		return
	}
	if isSimple(info, call) {
		ix.simple = append(ix.simple, &simpleHit{at, call})
		return
	}
	fn, ok := typeutil.Callee(info, call).(*types.Func)
	if !ok {
		return
	}
	if a := apiOf(fn); a != nil && fn.Signature().Recv() == nil && slices.Contains(a.byName, fn.Name()) && len(call.Args) > 0 {
		l := &lookup{at: at, fn: fn, name: call.Args[0]}
		if fn.Name() == "Register" && len(call.Args) > 1 {
			l.format = call.Args[1]
		}
		ix.lookups = append(ix.lookups, l)
	}
}

// remember notes "on := m.Enabled()", with which people guard more than one place.
func (ix *index) remember(info *types.Info, at inspector.Cursor) {
	for {
		up := at.Parent()
		switch n := up.Node().(type) {
		case *ast.ParenExpr, *ast.UnaryExpr, *ast.BinaryExpr:
			at = up
			continue
		case *ast.AssignStmt:
			if i := slices.Index(n.Rhs, at.Node().(ast.Expr)); n.Tok == token.DEFINE && i >= 0 && len(n.Lhs) == len(n.Rhs) {
				if id, ok := n.Lhs[i].(*ast.Ident); ok && info.Defs[id] != nil {
					ix.flags[info.Defs[id]] = n.Rhs[i]
				}
			}
		case *ast.ValueSpec:
			if i := slices.Index(n.Values, at.Node().(ast.Expr)); i >= 0 && len(n.Names) == len(n.Values) && info.Defs[n.Names[i]] != nil {
				ix.flags[info.Defs[n.Names[i]]] = n.Values[i]
			}
		}
		return
	}
}

// text returns the value of a constant string.
func text(info *types.Info, e ast.Expr) (string, bool) {
	if e == nil {
		return "", false
	}
	v := info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(v), true
}

// indexOf returns the package's index, nil when it has no points.
func indexOf(pass *analysis.Pass) *index { return pass.ResultOf[indexer].(*index) }
