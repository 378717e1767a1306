package check

import (
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// code is the state of one action block for one signature.
type code struct {
	*checker
	probe  *bound
	id     string // of the block and the signature
	scopes []map[string]*local
	slots  []ir.Type
	fields []int
	uses   uint
	loops  int
	keys   int // nesting of map keys
}

// local is a variable.
type local struct {
	key   localKey
	slot  int
	fixed bool // declared with a type
}

// code checks the block of a probe.
func (c *checker) code(p *bound, id string) *ir.Code {
	k := &code{checker: c, probe: p, id: id}
	out := &ir.Code{}
	k.open()
	if x := p.block.Predicate; x != nil {
		out.Predicate = k.truthOf(x, "a predicate")
	}
	out.Body = k.block(p.block.Body)
	for i := range k.slots {
		if k.slots[i].Base == ir.Unknown && !c.target.Open {
			k.slots[i] = ir.Int64Type
		}
	}
	slices.Sort(k.fields)
	out.Locals, out.Fields, out.Builtins = k.slots, slices.Compact(k.fields), k.uses
	return out
}

func (k *code) open()  { k.scopes = append(k.scopes, map[string]*local{}) }
func (k *code) close() { k.scopes = k.scopes[:len(k.scopes)-1] }

// lookup returns a variable that is in scope, or nil.
func (k *code) lookup(name string) *local {
	for i := len(k.scopes) - 1; i >= 0; i-- {
		if l := k.scopes[i][name]; l != nil {
			return l
		}
	}
	return nil
}

// declare adds a variable to the innermost scope.
func (k *code) declare(x *syntax.Expr) *local {
	l := &local{key: localKey{k.id, x.Begin}, slot: len(k.slots)}
	k.slots = append(k.slots, k.locals[l.key])
	k.scopes[len(k.scopes)-1][x.Name] = l
	return l
}

// assign widens the type of a variable by that of a value, and returns the value as the variable has it.
func (k *code) assign(l *local, name string, s syntax.Span, x *ir.Expr) *ir.Expr {
	t := k.locals[l.key]
	if l.fixed {
		if t.Base != ir.Int || !x.Type.IsInt() {
			if _, ok := ir.Promote(t, x.Type); !ok {
				k.fail(s, "", "%s is %s and cannot be assigned %s", name, t, x.Type)
			}
		} else if x.Op == ir.ConstInt && t.Extend(uint64(x.Int)) != uint64(x.Int) {
			k.fail(s, "cast it: ("+t.String()+")", "%d is outside of the range of %s", x.Int, t)
		}
		return convert(x, t)
	}
	w, ok := k.widen(t, x.Type)
	if !ok {
		k.fail(s, "use another variable", "%s is %s and cannot be assigned %s", name, t, x.Type)
	}
	k.locals[l.key], k.slots[l.slot] = w, w
	return convert(x, w)
}

// convert returns an expression as a value of another type. Integers are kept in 64 bits, so only aggregations and narrower
// integers change.
func convert(x *ir.Expr, t ir.Type) *ir.Expr {
	x = number(x)
	if x.Type.Base == ir.Int && t.Base == ir.Int && (t.Bits < 64 && (t.Bits < x.Type.Bits || t.Signed != x.Type.Signed)) {
		if x.Op == ir.ConstInt && t.Extend(uint64(x.Int)) == uint64(x.Int) {
			return x
		}
		return &ir.Expr{Op: ir.Convert, Type: t, At: x.At, Args: []*ir.Expr{x}}
	}
	return x
}

// number returns the number of an aggregation, and other expressions as they are.
func number(x *ir.Expr) *ir.Expr {
	if !x.Type.IsNumberAgg() {
		return x
	}
	return &ir.Expr{Op: ir.Convert, Type: x.Type.Number(), At: x.At, Args: []*ir.Expr{x}}
}

// unknown returns an expression after a mistake, or of a type that a later pass finds.
func unknown(s syntax.Span) *ir.Expr {
	return &ir.Expr{Op: ir.ConstInt, At: s.Begin}
}

// inEvents reports whether the block is executed by events rather than by BEGIN, END or an interval.
func (k *code) inEvents() bool { return k.probe.Kind == ir.Point }
