package tracer

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/field"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/schema"
)

// bindWhere binds a condition to each of the sites.
func (p *plan) bindWhere(where string) error {
	if where == "" {
		return nil
	}
	expr, err := filter.Parse(where)
	if err != nil {
		return whereError(err)
	}
	p.each(func(s *bpf.Site, pr *probe) {
		if s.End { // of a latency, whose begins decide
			return
		}
		var wrong error
		s.Where, wrong = pr.where(expr)
		err = cmp.Or(err, wrong)
	})
	return whereError(err)
}

// where binds a condition to the probe's site.
func (p *probe) where(expr *filter.Expr) (*bpf.Where, error) {
	w := &bpf.Where{}
	f, err := expr.Bind(func(name string) (field.Kind, error) {
		k, v, err := p.variable(name)
		w.Vars = append(w.Vars, v)
		return k, err
	})
	w.Filter = f
	return w, err
}

// everyEvent is what every event has. A field of the same name comes before it.
var everyEvent = map[string]struct {
	kind   field.Kind
	source bpf.Source
}{
	"pid": {field.Int64, bpf.FromPID}, "tid": {field.Int64, bpf.FromTID}, "cpu": {field.Int64, bpf.FromCPU},
	"comm":      {field.String, bpf.FromComm},
	"goroutine": {field.Int64, bpf.FromGoroutine}, "gid": {field.Int64, bpf.FromGoroutine},
}

// variable resolves a name of a condition: a field, argN, or what every event has.
func (p *probe) variable(name string) (field.Kind, bpf.Var, error) {
	fields := p.marker.Fields
	i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
	at := p.marker.positional(name)
	switch {
	case i >= 0 && fields[i].Unavailable != nil:
		return 0, bpf.Var{}, &filter.Error{Reason: fmt.Sprintf("%s of %s has no value: %v", name, p.marker.FullName(), fields[i].Unavailable)}
	case i >= 0 && p.record != nil:
		return recordVar(&p.record.Fields[i])
	case i >= 0:
		return p.operandVar(&fields[i])
	case at > 0 && p.record == nil:
		return p.operandVar(&Field{Operand: at})
	}
	if n := argument(name); n > 0 && p.record != nil && n <= len(p.record.Fields) {
		return recordVar(&p.record.Fields[n-1])
	}
	if c, ok := everyEvent[name]; ok {
		return c.kind, bpf.Var{Source: c.source, Goid: p.plan.Goid}, nil
	}
	return 0, bpf.Var{}, &filter.Error{
		Reason: fmt.Sprintf("%s has no field %s", p.marker.FullName(), name),
		Hint:   p.fieldHint(),
	}
}

func (p *probe) fieldHint() string {
	own := "it has no fields"
	var names []string
	for i := range p.marker.Fields {
		names = append(names, p.marker.Fields[i].Name)
	}
	if len(names) > 0 {
		own = "it has " + strings.Join(names, ", ")
	}
	return own + "; every event has comm, pid, tid, cpu and goroutine"
}

// recordVar says where a field of a record lies.
func recordVar(f *schema.Field) (field.Kind, bpf.Var, error) {
	machine := bpf.Machine(runtime.GOARCH)
	size := min(f.Kind.Size(), 8)
	value, err := bpf.RecordValue(machine, f.Offset, size, f.Kind.Signed())
	if err != nil || !f.Kind.HasLength() {
		return f.Kind, bpf.Var{Value: value}, err
	}
	length, err := bpf.RecordValue(machine, f.Offset+8, size, false)
	return f.Kind, bpf.Var{Source: bpf.FromText, Text: bpf.Text{Pointer: value, Length: length}}, err
}

// operandVar says where a field that is an operand lies. What this site does not have, others may.
func (p *probe) operandVar(f *Field) (field.Kind, bpf.Var, error) {
	ops := p.marker.Sites[p.site].Operands
	if f.Operand > len(ops) {
		return field.Invalid, bpf.Var{}, nil
	}
	t, err := p.textOf(ops, f, p.shift)
	switch {
	case err != nil:
		return field.Invalid, bpf.Var{}, nil
	case f.Kind.HasLength():
		return f.Kind, bpf.Var{Source: bpf.FromText, Text: t}, nil
	case f.given:
		return f.Kind, bpf.Var{Value: t.Pointer}, nil
	}
	return operandKind(&ops[f.Operand-1]), bpf.Var{Value: t.Pointer}, nil
}
