package check

import (
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// builtin is a value that a script has by name.
type builtin struct {
	which ir.Which
	typ   ir.Type
	event string // the name for Target.Has if only events have it
}

// commSize is the size of a thread's name in the kernel.
const commSize = 16

var builtins = map[string]builtin{
	"pid":       {ir.PID, ir.Uint32Type, "pid"},
	"tid":       {ir.TID, ir.Uint32Type, "tid"},
	"cpu":       {ir.CPU, ir.Uint64Type, "cpu"},
	"comm":      {ir.Comm, ir.Text(commSize), "comm"},
	"goid":      {ir.Goroutine, ir.Int64Type, "goroutine"},
	"nsecs":     {ir.Nsecs, ir.Uint64Type, ""},
	"elapsed":   {ir.Elapsed, ir.Uint64Type, ""},
	"probe":     {ir.ProbeName, ir.Text(256), ""},
	"probetype": {ir.ProbeType, ir.Text(16), ""},
}

// word checks a built-in value.
func (k *code) word(x *syntax.Expr, name string) *ir.Expr {
	if n := argNumber(name); n >= 0 {
		return k.argN(x, n)
	}
	b, ok := builtins[name]
	if !ok {
		k.refuseWord(x, name)
		return unknown(x.Span)
	}
	if name == "tid" && k.config.GoroutineAsTID {
		b = builtins["goid"]
	}
	out := &ir.Expr{Op: ir.Builtin, Which: b.which, Type: b.typ, Key: b.which == ir.TID && k.keys > 0}
	if b.event != "" {
		if !k.needsEvent(x.Span, name) {
			return out
		}
		if has := k.target.Has; has != nil && !k.probe.open && !has(k.probe.point(), b.event) {
			k.fail(x.Span, "use a field in place of it; LTTng records threads after lttng add-context -u -t vtid -t vpid -t procname",
				"events of %s have no %s in this trace", k.probe.point().FullName(), name)
		}
	}
	k.uses |= 1 << b.which
	return out
}

// argNumber returns the N of argN, which counts from 0 in scripts, or -1 for other names.
func argNumber(name string) int {
	if name == "arg0" {
		return 0
	}
	if n := event.ArgNumber(name); n > 0 {
		return n
	}
	return -1
}

// argN checks arg0, arg1, …
func (k *code) argN(x *syntax.Expr, n int) *ir.Expr {
	if !k.needsEvent(x.Span, x.Name) || k.probe.open {
		return unknown(x.Span)
	}
	if n >= len(k.probe.point().Fields) {
		k.fail(x.Span, "arguments are counted from 0: arg0 is the first", "%s has %d arguments", k.probe.point().FullName(), len(k.probe.point().Fields))
		return unknown(x.Span)
	}
	return k.fieldAt(x.Span, n)
}

// arity checks the number of arguments of a call.
func (k *code) arity(x *syntax.Expr, least, most int) bool {
	n := len(x.Args)
	if least <= n && n <= most {
		return true
	}
	takes := fmt.Sprintf("%d to %d arguments", least, most)
	switch {
	case least == most && least == 1:
		takes = "1 argument"
	case least == most:
		takes = fmt.Sprintf("%d arguments", least)
	}
	k.fail(x.Span, "", "%s takes %s, not %d", x.Name, takes, n)
	return false
}

// functions are the calls that have a value.
var functions map[string]func(*code, *syntax.Expr) *ir.Expr

func init() {
	functions = map[string]func(*code, *syntax.Expr) *ir.Expr{
		"str": (*code).str, "buf": (*code).buf, "strncmp": (*code).strncmp, "strcontains": (*code).strcontains,
		"has_key": (*code).hasKey, "delete": (*code).deleteKey, "len": (*code).length, "lost": (*code).lost,
		"percentile": (*code).percentile, "strftime": (*code).strftime, "getopt": (*code).getopt, "nsecs": (*code).nsecs,
	}
}

// call checks a call that has a value.
func (k *code) call(x *syntax.Expr) *ir.Expr {
	if f, ok := functions[x.Name]; ok {
		if out := f(k, x); out != nil {
			return out
		}
		return unknown(x.Span)
	}
	if _, ok := actions[x.Name]; ok {
		return &ir.Expr{Type: ir.NoType}
	}
	if _, ok := ir.Aggregates[x.Name]; ok {
		k.fail(x.Span, "such as @name[key] = "+x.Name+"(…)", "%s() is assigned to a map", x.Name)
		return unknown(x.Span)
	}
	if _, ok := builtins[x.Name]; ok && len(x.Args) == 0 {
		return k.word(x, x.Name)
	}
	k.refuseCall(x)
	return unknown(x.Span)
}

// text returns a text.
func (k *code) text(x *syntax.Expr) *ir.Expr {
	v := k.value(x)
	switch v.Type.Base {
	case ir.String, ir.Unknown:
		return v
	case ir.Buffer:
		return &ir.Expr{Op: ir.StrCut, At: x.Begin, Type: ir.Text(v.Type.Size), Int: int64(v.Type.Size), Args: []*ir.Expr{v}}
	}
	k.fail(x.Span, "use a field that waymark records as a text", "%s where a text is needed", v.Type)
	return unknown(x.Span)
}

// str checks str(text [, length]) and str($1 + n).
func (k *code) str(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 1, 2) {
		return nil
	}
	var v *ir.Expr
	switch a := x.Args[0]; {
	case a.Kind == syntax.ParamExpr:
		_, text, _ := k.parameter(a.Value)
		v = textConst(text)
	case a.Kind == syntax.BinaryExpr && a.Name == "+" && a.Args[0].Kind == syntax.ParamExpr && a.Args[1].Kind == syntax.IntExpr:
		_, text, _ := k.parameter(a.Args[0].Value)
		if a.Args[1].Value > uint64(len(text)) {
			k.fail(a.Span, "", "%q has %d bytes", text, len(text))
			return nil
		}
		v = textConst(text[a.Args[1].Value:])
	default:
		v = k.text(a)
	}
	if len(x.Args) == 1 || v.Type.Base == ir.Unknown {
		return v
	}
	n := k.integer(x.Args[1])
	size := k.config.MaxText
	if n.Op == ir.ConstInt && n.Int < int64(size) {
		size = int(max(n.Int, 1))
	}
	return &ir.Expr{Op: ir.StrCut, Type: ir.Text(size), Int: int64(k.config.MaxText), Args: []*ir.Expr{v, n}}
}

// buf checks buf(data [, length]).
func (k *code) buf(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 1, 2) {
		return nil
	}
	v := k.value(x.Args[0])
	switch v.Type.Base {
	case ir.String, ir.Buffer, ir.Unknown:
	default:
		k.fail(x.Span, "use a field that waymark records as a text or as bytes", "buf of %s", v.Type)
		return nil
	}
	out := &ir.Expr{Op: ir.ToBuffer, Type: ir.Type{Base: ir.Buffer, Size: k.config.MaxText}, Int: int64(k.config.MaxText), Args: []*ir.Expr{v}}
	if len(x.Args) == 2 {
		out.Args = append(out.Args, k.integer(x.Args[1]))
	}
	return out
}

func (k *code) strncmp(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 3, 3) {
		return nil
	}
	n := k.constant(x.Args[2], "the length of strncmp", 0, maxText)
	return &ir.Expr{Op: ir.StrNCmp, Type: ir.Int64Type, Int: n, Args: []*ir.Expr{k.text(x.Args[0]), k.text(x.Args[1])}}
}

func (k *code) strcontains(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 2, 2) {
		return nil
	}
	return &ir.Expr{Op: ir.StrContains, Type: ir.BoolType, Args: []*ir.Expr{k.text(x.Args[0]), k.text(x.Args[1])}}
}

// strftime checks strftime(format, nanoseconds).
func (k *code) strftime(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 2, 2) {
		return nil
	}
	out := &ir.Expr{Op: ir.FormatTime, Type: ir.Type{Base: ir.Time}, Text: k.timeFormat(x), Args: []*ir.Expr{k.integer(x.Args[1])}}
	if a := out.Args[0]; a.Op == ir.ConstInt && a.Int < 0 {
		k.fail(x.Args[1].Span, "", "strftime of a negative time")
	}
	return out
}

// getopt checks getopt(name [, default [, description]]).
func (k *code) getopt(x *syntax.Expr) *ir.Expr {
	if !k.arity(x, 1, 3) {
		return nil
	}
	if x.Args[0].Kind != syntax.StrExpr {
		k.fail(x.Args[0].Span, `such as getopt("limit", 10)`, "the name of a parameter is a text in quotes")
		return nil
	}
	name := x.Args[0].Name
	k.args.used[name] = true
	value, given := k.args.named[name]
	def := &ir.Expr{Op: ir.ConstInt, Type: ir.BoolType}
	if len(x.Args) > 1 {
		def = k.value(x.Args[1])
	}
	switch {
	case def.Type.Base == ir.Bool && def.Op == ir.ConstInt:
		if !given {
			return def
		}
		switch value {
		case "true", "1":
			def.Int = 1
		case "false", "0":
			def.Int = 0
		default:
			k.fail(x.Span, "", "--%s=%s: the parameter is true or false", name, value)
		}
		return def
	case def.Op == ir.ConstText:
		if given {
			return textConst(value)
		}
		return def
	case def.Op != ir.ConstInt || def.Type.Base != ir.Int:
		k.fail(x.Args[1].Span, "", "the default of a parameter is a constant")
		return nil
	case !given:
		return def
	}
	digits, negative := strings.CutPrefix(value, "-")
	v, wrong := syntax.ParseInt(digits)
	if wrong != "" {
		k.fail(x.Span, "", "--%s=%s: the parameter is a number", name, value)
		return def
	}
	return literal(v, negative)
}

// nsecs checks nsecs(clock). Recordings have one clock.
func (k *code) nsecs(x *syntax.Expr) *ir.Expr {
	if len(x.Args) == 0 {
		return k.word(x, "nsecs")
	}
	if len(x.Args) != 1 || x.Args[0].Kind != syntax.WordExpr || x.Args[0].Name != "monotonic" {
		k.fail(x.Span, "write nsecs or nsecs(monotonic): events have one clock, that of the trace", "nsecs of another clock")
		return nil
	}
	return k.word(x, "nsecs")
}
