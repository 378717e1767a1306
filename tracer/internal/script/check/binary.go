package check

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

var binaryOps = map[string]ir.Op{
	"+": ir.Add, "-": ir.Sub, "*": ir.Mul, "/": ir.Div, "%": ir.Mod, "&": ir.And, "|": ir.Or, "^": ir.Xor, "<<": ir.Shl, ">>": ir.Shr,
	"==": ir.Equal, "!=": ir.NotEqual, "<": ir.Less, "<=": ir.LessEqual, ">": ir.Greater, ">=": ir.GreaterEqual, "&&": ir.AndAlso, "||": ir.OrElse,
}

// arithmeticType returns the type of the result of an integer operation, which has 64 bits, and whether the operation takes its
// operands as signed.
func arithmeticType(op ir.Op, a, b ir.Type) (ir.Type, bool) {
	switch {
	case op == ir.Shl || op == ir.Shr:
		b.Signed = a.Signed
	case a.Literal && !b.Literal:
		a.Signed = b.Signed
	case b.Literal && !a.Literal:
		b.Signed = a.Signed
	}
	signed := a.Signed || b.Signed
	return ir.Type{Base: ir.Int, Bits: 64, Signed: signed || op == ir.Sub}, signed
}

func (k *code) binary(x *syntax.Expr) *ir.Expr {
	op := binaryOps[x.Name]
	if op == ir.AndAlso || op == ir.OrElse {
		a, b := k.truthOf(x.Args[0], "an operand of "+x.Name), k.truthOf(x.Args[1], "an operand of "+x.Name)
		return &ir.Expr{Op: op, Type: ir.BoolType, Args: []*ir.Expr{a, b}}
	}
	a, b := k.value(x.Args[0]), k.value(x.Args[1])
	if a.Type.Base == ir.Int || b.Type.Base == ir.Int {
		a, b = asInteger(a), asInteger(b)
	}
	out := &ir.Expr{Op: op, At: x.Begin, Args: []*ir.Expr{a, b}}
	switch {
	case ir.Equal <= op && op <= ir.GreaterEqual:
		out.Type = ir.BoolType
		return k.compare(x, out)
	case a.Type.Base == ir.Unknown || b.Type.Base == ir.Unknown:
		return unknown(x.Span)
	case a.Type.Base == ir.Pointer && (op == ir.Add || op == ir.Sub) && b.Type.Base == ir.Int:
		out.Type = a.Type
		return out
	case a.Type.Base != ir.Int || b.Type.Base != ir.Int:
		bad := a.Type
		if bad.Base == ir.Int {
			bad = b.Type
		}
		k.fail(x.Span, hintFor(bad), "%s of %s and %s", x.Name, a.Type, b.Type)
		return unknown(x.Span)
	}
	out.Type, out.Signed = arithmeticType(op, a.Type, b.Type)
	return fold(out)
}

// compare checks comparisons.
func (k *code) compare(x *syntax.Expr, out *ir.Expr) *ir.Expr {
	a, b := out.Args[0], out.Args[1]
	equality := out.Op == ir.Equal || out.Op == ir.NotEqual
	t, u := a.Type, b.Type
	switch {
	case t.Base == ir.Unknown || u.Base == ir.Unknown:
		return out
	case isWord(t) && isWord(u):
		_, out.Signed = arithmeticType(out.Op, t, u)
		return out
	case t.Base == ir.Float || u.Base == ir.Float:
		if k.compareFloats(x, a, b) {
			return out
		}
	case !equality:
		k.fail(x.Span, "texts and tuples can be compared with == and !=", "%s of %s and %s", x.Name, t, u)
	case t.Base == ir.Bool && u.Base == ir.Bool || t.Base == ir.String && u.Base == ir.String || t.Base == ir.Buffer && u.Base == ir.Buffer:
		return out
	case t.Base == ir.Tuple && u.Base == ir.Tuple:
		if _, ok := ir.Promote(t, u); ok {
			return out
		}
		fallthrough
	default:
		k.fail(x.Span, "compare values of the same type", "%s of %s and %s", x.Name, t, u)
	}
	return &ir.Expr{Op: ir.ConstInt, Type: ir.BoolType}
}

// isWord reports whether a type is compared as a number of 64 bits.
func isWord(t ir.Type) bool { return t.Base == ir.Int || t.Base == ir.Pointer }

// compareFloats reports whether a float is compared with a float of its size or with a constant.
func (k *code) compareFloats(x *syntax.Expr, a, b *ir.Expr) bool {
	if a.Type.Base == ir.Float && b.Type.Base == ir.Float {
		if a.Type.Bits == b.Type.Bits {
			return true
		}
		k.fail(x.Span, "", "%s of %s and %s", x.Name, a.Type, b.Type)
		return false
	}
	f, n := a, b
	if b.Type.Base == ir.Float {
		f, n = b, a
	}
	if n.Op == ir.ConstInt && n.Type.Base == ir.Int {
		return true
	}
	k.fail(x.Span, "compare a float with a number written in the script, or with a float of its size", "%s of %s and %s", x.Name, f.Type, n.Type)
	return false
}
