package check

import (
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// value returns an expression that has one value: an aggregation becomes its number.
func (k *code) value(x *syntax.Expr) *ir.Expr {
	v := number(k.expr(x))
	switch {
	case v.Type.Base == ir.Agg:
		k.fail(x.Span, "print it with print()", "%s in an expression: it is more than one number", v.Type)
		return unknown(x.Span)
	case v.Type.Base == ir.None:
		k.fail(x.Span, "use it as a statement", "%s() has no value", x.Name)
		return unknown(x.Span)
	}
	return v
}

// integer returns an integer, to which a truth becomes 0 or 1.
func (k *code) integer(x *syntax.Expr) *ir.Expr {
	v := k.value(x)
	switch v.Type.Base {
	case ir.Int, ir.Unknown:
		return v
	case ir.Bool:
		return asInteger(v)
	case ir.Pointer:
		c := *v
		c.Type = ir.Uint64Type
		return &c
	}
	k.fail(x.Span, hintFor(v.Type), "%s where an integer is needed", v.Type)
	return unknown(x.Span)
}

// asInteger returns a truth as 0 or 1, and other expressions as they are.
func asInteger(x *ir.Expr) *ir.Expr {
	if x.Type.Base != ir.Bool {
		return x
	}
	c := *x
	c.Type = ir.Literal(1)
	return &c
}

// hintFor returns how to make a number of a value of another type.
func hintFor(t ir.Type) string {
	switch t.Base {
	case ir.Float:
		return "a float can be compared with an integer and printed: there is no arithmetic on floats in the kernel"
	}
	return ""
}

// truthOf returns an expression that is true or false; an integer is true unless it is 0.
func (k *code) truthOf(x *syntax.Expr, where string) *ir.Expr {
	v := k.value(x)
	switch v.Type.Base {
	case ir.Bool, ir.Int, ir.Pointer, ir.Unknown:
		return v
	}
	k.fail(x.Span, "compare it", "%s as %s", v.Type, where)
	return unknown(x.Span)
}

// constant returns the value of an integer that is known before the script runs.
func (k *code) constant(x *syntax.Expr, what string, low, high int64) int64 {
	v := k.value(x)
	if v.Type.Base == ir.Unknown {
		return low
	}
	if v.Op != ir.ConstInt || v.Type.Base != ir.Int {
		k.fail(x.Span, "", "%s is a constant number", what)
		return low
	}
	if v.Int < low || v.Int > high {
		k.fail(x.Span, "", "%s is a number from %d to %d", what, low, high)
		return low
	}
	return v.Int
}

// expr checks an expression.
func (k *code) expr(x *syntax.Expr) *ir.Expr {
	k.work++
	out := k.node(x)
	out.At = x.Begin
	return out
}

func (k *code) node(x *syntax.Expr) *ir.Expr {
	switch x.Kind {
	case syntax.IntExpr:
		return literal(x.Value, false)
	case syntax.StrExpr:
		return textConst(x.Name)
	case syntax.BoolExpr:
		return &ir.Expr{Op: ir.ConstInt, Type: ir.BoolType, Int: int64(x.Value)}
	case syntax.ParamExpr:
		p, _, _ := k.parameter(x.Value)
		return p
	case syntax.CountExpr:
		return literal(uint64(len(k.args.positional)), false)
	case syntax.WordExpr:
		return k.word(x, x.Name)
	case syntax.VarExpr:
		return k.variable(x)
	case syntax.MapExpr:
		return k.load(x)
	case syntax.FieldExpr:
		return k.field(x)
	case syntax.ElemExpr:
		return k.elem(x)
	case syntax.CallExpr:
		return k.call(x)
	case syntax.UnaryExpr:
		return k.unary(x)
	case syntax.BinaryExpr:
		return k.binary(x)
	case syntax.TernaryExpr:
		return k.ternary(x)
	case syntax.CastExpr:
		return k.cast(x)
	case syntax.TupleExpr:
		return k.tuple(x.Args, x.Span)
	}
	return k.step(x)
}

func (k *code) variable(x *syntax.Expr) *ir.Expr {
	l := k.lookup(x.Name)
	if l == nil {
		k.fail(x.Span, "assign to it before; a variable ends with the block that it is assigned in", "%s has no value yet", x.Name)
		return unknown(x.Span)
	}
	return &ir.Expr{Op: ir.Local, Index: l.slot, Type: k.locals[l.key]}
}

// field checks args.NAME, where NAME may be a path such as req.Method of a simple marker.
func (k *code) field(x *syntax.Expr) *ir.Expr {
	root := x
	for root.Kind == syntax.FieldExpr {
		root = root.Args[0]
	}
	if root.Kind != syntax.WordExpr || root.Name != "args" {
		k.fail(x.Span, "fields are those of args, as args.NAME; elements of tuples are numbers, as $t.0", "member %s of something else than args", x.Name)
		return unknown(x.Span)
	}
	if !k.needsEvent(x.Span, "args") || k.probe.open {
		return unknown(x.Span)
	}
	path := strings.TrimLeft(k.script.File.Text[root.End:x.End], " \t\n.->")
	p := k.probe.point()
	i := p.Field(path)
	if i < 0 {
		hint := "it has no fields"
		if len(p.Fields) > 0 {
			var names []string
			for _, f := range p.Fields {
				names = append(names, "args."+f.Name)
			}
			hint = "there is " + strings.Join(names, ", ")
		}
		k.fail(x.Span, hint, "%s has no field %s", p.FullName(), path)
		return unknown(x.Span)
	}
	return k.fieldAt(x.Span, i)
}

// needsEvent reports whether the block is executed by events, and fails if not.
func (k *code) needsEvent(s syntax.Span, what string) bool {
	if k.inEvents() {
		return true
	}
	k.fail(s, "use it in a probe of events, such as marker:provider:name", "%s in %s, which is not the hit of a point", what, k.probe.Name)
	return false
}

// fieldAt returns the value of a field by its index.
func (k *code) fieldAt(s syntax.Span, i int) *ir.Expr {
	f := &k.probe.point().Fields[i]
	out := &ir.Expr{Op: ir.Field, Index: i}
	switch kind := f.Kind; {
	case f.Unavailable != "":
		k.fail(s, "", "field %s of %s has no value: %s", f.Name, k.probe.point().FullName(), string(f.Unavailable))
		return unknown(s)
	case kind == event.Bool:
		out.Type = ir.BoolType
	case kind == event.Pointer:
		out.Type = ir.Type{Base: ir.Pointer, Bits: 64}
	case kind.IsInteger():
		out.Type = ir.Type{Base: ir.Int, Bits: 8 * kind.Size(), Signed: kind.Signed()}
	case kind.IsFloat():
		out.Type = ir.Type{Base: ir.Float, Bits: 8 * kind.Size()}
	case kind == event.String:
		out.Type = ir.Text(k.config.MaxText)
	case kind == event.Bytes:
		out.Type = ir.Type{Base: ir.Buffer, Size: k.config.MaxText}
	default:
		k.fail(s, "waymark report prints such values", "field %s of %s is neither a number nor a text", f.Name, k.probe.point().FullName())
		return unknown(s)
	}
	k.fields = append(k.fields, i)
	return out
}

func (k *code) elem(x *syntax.Expr) *ir.Expr {
	t := k.value(x.Args[0])
	switch {
	case t.Type.Base == ir.Unknown:
		return unknown(x.Span)
	case t.Type.Base != ir.Tuple:
		k.fail(x.Span, "", "element %d of %s, which is not a tuple", x.Value, t.Type)
		return unknown(x.Span)
	case x.Value >= uint64(len(t.Type.Elems)):
		k.fail(x.Span, "elements are counted from 0", "element %d of a tuple of %d", x.Value, len(t.Type.Elems))
		return unknown(x.Span)
	}
	return &ir.Expr{Op: ir.Elem, Index: int(x.Value), Type: t.Type.Elems[x.Value], Args: []*ir.Expr{t}}
}

func (k *code) tuple(args []*syntax.Expr, s syntax.Span) *ir.Expr {
	out := &ir.Expr{Op: ir.MakeTuple, Type: ir.Type{Base: ir.Tuple}}
	for _, a := range args {
		v := k.value(a)
		if v.Type.Base == ir.Time {
			k.fail(a.Span, "print it alone", "%s in a tuple", v.Type)
		}
		out.Args = append(out.Args, v)
		out.Type.Elems = append(out.Type.Elems, v.Type)
	}
	leaves := 0
	for _, e := range out.Type.Elems {
		leaves += leavesOf(e)
		if e.Base == ir.Unknown { // the type is complete once those of its elements are
			out.Type = ir.Type{}
			return out
		}
	}
	if leaves > maxLeaves {
		k.fail(s, "use several maps or variables", "a tuple has more than %d values", maxLeaves)
		return unknown(s)
	}
	return out
}

// maxLeaves bounds the values in a tuple and the tuples in it: tuples of tuples grow fast.
const maxLeaves = 64

func leavesOf(t ir.Type) int {
	if t.Base != ir.Tuple {
		return 1
	}
	n := 0
	for _, e := range t.Elems {
		n += leavesOf(e)
	}
	return n
}

func (k *code) unary(x *syntax.Expr) *ir.Expr {
	if lit := x.Args[0]; x.Name == "-" && lit.Kind == syntax.IntExpr {
		return literal(lit.Value, true)
	}
	if x.Name == "!" {
		return &ir.Expr{Op: ir.Not, Type: ir.BoolType, Args: []*ir.Expr{k.truthOf(x.Args[0], "the operand of !")}}
	}
	v := k.integer(x.Args[0])
	if v.Type.Base == ir.Unknown {
		return v
	}
	zero := &ir.Expr{Op: ir.ConstInt, Type: ir.Int64Type}
	if x.Name == "-" {
		return fold(&ir.Expr{Op: ir.Sub, Type: ir.Int64Type, Args: []*ir.Expr{zero, v}})
	}
	zero.Int = -1
	return fold(&ir.Expr{Op: ir.Xor, Type: ir.Type{Base: ir.Int, Bits: 64, Signed: v.Type.Signed}, Args: []*ir.Expr{v, zero}})
}

// fold computes an integer operation on constants.
func fold(x *ir.Expr) *ir.Expr {
	a, b := x.Args[0], x.Args[1]
	if a.Op != ir.ConstInt || b.Op != ir.ConstInt || a.Type.Base == ir.Unknown || b.Type.Base == ir.Unknown {
		return x
	}
	v, zero := ir.Arith(x.Op, x.Signed, uint64(a.Int), uint64(b.Int))
	if zero {
		return x // it warns when it is executed
	}
	return &ir.Expr{Op: ir.ConstInt, Type: x.Type, Int: int64(v)}
}

func (k *code) ternary(x *syntax.Expr) *ir.Expr {
	if isAction(x.Args[1]) || isAction(x.Args[2]) {
		k.fail(x.Span, "use if (CONDITION) { … } else { … }", "ternary operator with statements")
		return unknown(x.Span)
	}
	cond, yes, no := k.truthOf(x.Args[0], "a condition"), k.value(x.Args[1]), k.value(x.Args[2])
	t, ok := ir.Promote(yes.Type, no.Type)
	if !ok {
		k.fail(x.Span, "cast one", "the ternary operator has %s and %s", yes.Type, no.Type)
	}
	if yes.Type.Base == ir.Unknown || no.Type.Base == ir.Unknown {
		t = ir.Type{Base: t.Base, Bits: t.Bits, Signed: t.Signed, Size: t.Size, Elems: t.Elems}
	}
	return &ir.Expr{Op: ir.Choose, Type: t, Args: []*ir.Expr{cond, yes, no}}
}

func (k *code) cast(x *syntax.Expr) *ir.Expr {
	if x.Name == "string" {
		k.fail(x.Span, "write str(…) of a text field; print and printf format numbers", "cast to string")
		return unknown(x.Span)
	}
	t := namedType(x.Name, 0)
	v := k.value(x.Args[0])
	switch v.Type.Base {
	case ir.Unknown:
		return &ir.Expr{Op: ir.ConstInt, Type: t}
	case ir.Int, ir.Bool, ir.Pointer:
	default:
		k.fail(x.Span, hintFor(v.Type), "cast of %s to %s", v.Type, t)
		return unknown(x.Span)
	}
	if v.Op == ir.ConstInt {
		return &ir.Expr{Op: ir.ConstInt, Type: t, Int: int64(t.Extend(uint64(v.Int)))}
	}
	return &ir.Expr{Op: ir.Convert, Type: t, Args: []*ir.Expr{v}}
}

// step checks ++ and --.
func (k *code) step(x *syntax.Expr) *ir.Expr {
	target := x.Args[0]
	out := &ir.Expr{Int: 1, Index: int(x.Value), Type: ir.Int64Type}
	if x.Name == "--" {
		out.Int = -1
	}
	stepped := func(t ir.Type) (ir.Type, bool) {
		if t.Base == ir.Int && !t.Signed && x.Name == "++" && !t.Literal {
			return ir.Uint64Type, true
		}
		return ir.Int64Type, t.Base == ir.Int || t.Base == ir.Unknown
	}
	ok := false
	switch target.Kind {
	case syntax.VarExpr:
		l := k.lookup(target.Name)
		if l == nil {
			k.fail(target.Span, "assign to it before", "%s has no value yet", target.Name)
			return unknown(x.Span)
		}
		out.Op, out.Map = ir.StepLocal, nil
		if out.Type, ok = stepped(k.locals[l.key]); !ok {
			k.fail(x.Span, "", "%s of %s, which is %s", x.Name, target.Name, k.locals[l.key])
			return unknown(x.Span)
		}
		k.assign(l, target.Name, x.Span, &ir.Expr{Type: out.Type})
		out.Args = []*ir.Expr{{Op: ir.Local, Index: l.slot, Type: k.locals[l.key]}}
	case syntax.MapExpr:
		m := k.mapOf(target.Name)
		out.Op, out.Map = ir.StepMap, m
		if key := k.key(m, target); key != nil {
			out.Args = []*ir.Expr{key}
		}
		if out.Type, ok = stepped(m.Value); !ok {
			k.fail(x.Span, "use another map", "%s of map %s, whose values are %s", x.Name, m.Name, m.Value)
			return unknown(x.Span)
		}
		k.setValue(m, &syntax.Stmt{Span: x.Span, X: x}, out.Type)
	default:
		k.fail(x.Span, "", "%s of something else than a variable or a map", x.Name)
		return unknown(x.Span)
	}
	return out
}
