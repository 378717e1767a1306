package check

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// mapArg returns the map that an argument names, or nil.
func (k *code) mapArg(call, x *syntax.Expr) *ir.Map {
	if x.Kind != syntax.MapExpr {
		k.fail(x.Span, "", "%s takes a map", call.Name)
		return nil
	}
	m := k.mapOf(x.Name)
	if m.Value.Base == ir.Unknown && k.final && !k.target.Open {
		k.undefined(m, x.Span)
	}
	return m
}

// keyArg returns the map and the key of call(@map, key) or of call(@map[key]).
func (k *code) keyArg(x *syntax.Expr) (*ir.Map, *ir.Expr) {
	m := k.mapArg(x, x.Args[0])
	if m == nil {
		return nil, nil
	}
	if len(x.Args) == 1 {
		return m, k.key(m, x.Args[0])
	}
	if len(x.Args[0].Args) > 0 {
		k.fail(x.Span, "write "+x.Name+"(@map, key)", "%s with two keys", x.Name)
		return nil, nil
	}
	args := x.Args[1:]
	if args[0].Kind == syntax.TupleExpr {
		args = args[0].Args
	}
	key := k.keyOf(args, x.Args[1].Span)
	k.widenKey(m, x.Span, key)
	return m, key
}

func keyArgs(key *ir.Expr) []*ir.Expr {
	if key == nil {
		return nil
	}
	return []*ir.Expr{key}
}

func (k *code) hasKey(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 2, 2) {
		return nil
	}
	m, key := k.keyArg(x)
	return &ir.Expr{Op: ir.HasKey, Type: ir.BoolType, Map: m, Args: keyArgs(key)}
}

func (k *code) deleteKey(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 1, 2) {
		return nil
	}
	m, key := k.keyArg(x)
	if m == nil {
		return nil
	}
	return &ir.Expr{Op: ir.DeleteKey, Type: ir.BoolType, Map: m, Args: keyArgs(key)}
}

func (k *code) length(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 1, 1) {
		return nil
	}
	m := k.mapArg(x, x.Args[0])
	if m == nil {
		return nil
	}
	k.keyed(m, x.Span, "len counts keys")
	return &ir.Expr{Op: ir.MapLen, Type: ir.Int64Type, Map: m}
}

func (k *code) lost(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 1, 1) {
		return nil
	}
	return &ir.Expr{Op: ir.LostKeys, Type: ir.Uint64Type, Map: k.mapArg(x, x.Args[0])}
}

// percentile checks percentile(@hist[key], percent).
func (k *code) percentile(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 2, 2) {
		return nil
	}
	m := k.mapArg(x, x.Args[0])
	if m == nil {
		return nil
	}
	out := &ir.Expr{Op: ir.Percentile, Type: ir.Int64Type, Map: m, Args: keyArgs(k.key(m, x.Args[0]))}
	out.Int = k.constant(x.Args[1], "a percentile", 0, 100)
	if m.Value.Base != ir.Unknown && (m.Value.Base != ir.Agg || m.Value.Agg != ir.Hist && m.Value.Agg != ir.LHist) {
		k.fail(x.Span, "assign hist(n) or lhist(n, …) to the map", "percentile of map %s, whose values are %s", m.Name, m.Value)
	}
	return out
}
