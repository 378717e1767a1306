package check

import (
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/machine"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// actions are the calls that are statements.
var actions map[string]func(*code, *syntax.Expr, *ir.Stmt)

func init() {
	formatted := func(op ir.StmtOp) func(*code, *syntax.Expr, *ir.Stmt) {
		return func(k *code, x *syntax.Expr, out *ir.Stmt) { k.printf(x, out, op) }
	}
	keyed := func(op ir.StmtOp) func(*code, *syntax.Expr, *ir.Stmt) {
		return func(k *code, x *syntax.Expr, out *ir.Stmt) { k.speculation(x, out, op) }
	}
	whole := func(op ir.StmtOp) func(*code, *syntax.Expr, *ir.Stmt) {
		return func(k *code, x *syntax.Expr, out *ir.Stmt) { k.wholeMap(x, out, op) }
	}
	actions = map[string]func(*code, *syntax.Expr, *ir.Stmt){
		"printf": formatted(ir.Printf), "errorf": formatted(ir.Errorf), "warnf": formatted(ir.Warnf), "system": formatted(ir.System),
		"speculate": keyed(ir.Speculate), "commit": keyed(ir.Commit), "discard": keyed(ir.Discard),
		"clear": whole(ir.ClearMap), "zero": whole(ir.ZeroMap),
		"print": (*code).print, "time": (*code).time, "exit": (*code).exit,
	}
}

func (k *code) printf(x *syntax.Expr, out *ir.Stmt, op ir.StmtOp) {
	out.Op = op
	if op == ir.System && !k.target.Unsafe {
		k.fail(x.Span, "run it with --unsafe if you trust the script", "system() runs commands")
	}
	if len(x.Args) == 0 || x.Args[0].Kind != syntax.StrExpr {
		k.fail(x.Span, `such as `+x.Name+`("%s\n", comm)`, "the format of %s is a text in quotes", x.Name)
		out.Format = &ir.Format{Texts: []string{""}}
		return
	}
	f, err := ir.ParseFormat(x.Args[0].Name)
	if err != nil {
		k.fail(x.Args[0].Span, "write %% for a percent sign", "format of %s: %v", x.Name, err)
		f = &ir.Format{Texts: []string{""}}
	}
	out.Format = f
	args := x.Args[1:]
	if err == nil && len(args) != len(f.Verbs) {
		k.fail(x.Span, "", "%s has %d arguments for %d conversions", x.Name, len(args), len(f.Verbs))
	}
	for i, a := range args {
		v := k.value(a)
		out.Args = append(out.Args, v)
		if i < len(f.Verbs) && v.Type.Base != ir.Unknown && !f.Verbs[i].Takes(v.Type) {
			k.fail(a.Span, "%s prints any value, %d integers, %r buffers", "%%%s of %s", f.Verbs[i].Conversion, v.Type)
		}
	}
	if op == ir.System {
		for i, a := range args {
			if i < len(out.Args) && out.Args[i].Type.Base == ir.String && out.Args[i].Op != ir.ConstText {
				k.warn(a.Span, "a program that is traced chooses this text", "text of an event in a command")
			}
		}
	}
}

// print checks print(x), print(@map), print(@map, top) and print(@map, top, div).
func (k *code) print(x *syntax.Expr, out *ir.Stmt) {
	out.Op = ir.Print
	if !k.arity(x, 1, 3) {
		return
	}
	a := x.Args[0]
	if a.Kind != syntax.MapExpr || len(a.Args) > 0 {
		if len(x.Args) > 1 {
			k.fail(x.Span, "write print(@map, top, div)", "print with top or div of something else than a map")
		}
		if out.X = k.expr(a); out.X.Type.Base == ir.None {
			k.value(a)
		}
		return
	}
	m := k.mapArg(x, a)
	out.Op, out.Map, out.Div = ir.PrintMap, m, 1
	if len(x.Args) > 1 {
		out.Int = k.constant(x.Args[1], "the top of print", 0, 1<<31-1)
	}
	if len(x.Args) > 2 {
		out.Div = max(k.constant(x.Args[2], "the div of print", 0, 1<<62), 1)
	}
	if k.inEvents() && m != nil && (!m.Scalar() && m.Key.Base != ir.Unknown || m.Value.IsHistogram()) {
		k.wholeInEvents(x)
	}
}

// wholeInEvents refuses what must see all of a map at one instant.
func (k *code) wholeInEvents(x *syntax.Expr) {
	k.fail(x.Span, "do it in interval:s:1, BEGIN or END, where it acts at one instant", "%s of a whole map in a probe of events", x.Name)
}

func (k *code) wholeMap(x *syntax.Expr, out *ir.Stmt, op ir.StmtOp) {
	out.Op = op
	if !k.arity(x, 1, 1) {
		return
	}
	if len(x.Args[0].Args) > 0 {
		k.fail(x.Span, "write delete(@map, key)", "%s of one key", x.Name)
	}
	out.Map = k.mapArg(x, x.Args[0])
	if m := out.Map; k.inEvents() && m != nil && (!m.Scalar() && m.Key.Base != ir.Unknown || m.Value.Base == ir.Agg) {
		k.wholeInEvents(x)
	}
}

func (k *code) time(x *syntax.Expr, out *ir.Stmt) {
	out.Op, out.Text = ir.PrintTime, "%H:%M:%S\n"
	if k.arity(x, 0, 1) && len(x.Args) == 1 {
		out.Text = k.timeFormat(x)
	}
}

// timeFormat returns the format of time and strftime.
func (k *code) timeFormat(x *syntax.Expr) string {
	a := x.Args[0]
	if a.Kind != syntax.StrExpr {
		k.fail(a.Span, `such as "%H:%M:%S"`, "the format of %s is a text in quotes", x.Name)
		return ""
	}
	if bad := machine.CheckTimeFormat(a.Name); bad != "" {
		k.fail(a.Span, "write %% for a percent sign", "format of %s: unknown conversion %q", x.Name, bad)
	}
	return a.Name
}

func (k *code) exit(x *syntax.Expr, out *ir.Stmt) {
	out.Op = ir.Exit
	if k.arity(x, 0, 1) && len(x.Args) == 1 {
		out.X = k.integer(x.Args[0])
	}
}

func (k *code) speculation(x *syntax.Expr, out *ir.Stmt, op ir.StmtOp) {
	out.Op = op
	if !k.arity(x, 1, 1) {
		return
	}
	if out.X = k.keyOf(x.Args, x.Span); notAKey(out.X.Type) != "" {
		k.fail(x.Span, "use an integer, a text or a tuple of these", "%s as a key", out.X.Type)
	}
}
