package tracer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// bindWhere binds a condition to each of the sites.
func (p *plan) bindWhere(where string) error {
	if where == "" {
		return nil
	}
	expr, err := filter.Parse(where)
	if err != nil {
		return model.ConditionError(err)
	}
	p.each(func(s *bpf.Site, pr *probe) {
		if s.End { // of a latency, whose begins decide
			return
		}
		var wrong error
		s.Where, wrong = pr.where(expr)
		err = cmp.Or(err, wrong)
	})
	return model.ConditionError(err)
}

// where binds a condition to the probe's site.
func (p *probe) where(expr *filter.Expr) (*bpf.Where, error) {
	w := &bpf.Where{}
	f, err := expr.Bind(func(name string) (event.Kind, error) {
		k, v, err := p.variable(name)
		w.Vars = append(w.Vars, v)
		return k, err
	})
	w.Filter = f
	return w, err
}

// variable resolves a name of a condition: a field, argN, or what every event has.
func (p *probe) variable(name string) (event.Kind, bpf.Part, error) {
	fields := p.marker.Fields
	i := p.marker.Field(name)
	at := model.Positional(p.marker, name)
	switch {
	case i >= 0 && fields[i].Unavailable != "":
		return 0, bpf.Part{}, &filter.Error{Reason: fmt.Sprintf("%s of %s has no value: %v", name, p.marker.FullName(), fields[i].Unavailable)}
	case i >= 0:
		return p.part(i)
	case at > 0 && p.record == nil:
		k, part := p.operandPart(event.Invalid, Argument{Operand: at})
		return k, part, nil
	}
	if n := model.ArgNumber(name); n > 0 && p.record != nil && n <= len(p.record.Fields) {
		return p.part(n - 1)
	}
	if name == "gid" {
		name = "goroutine"
	}
	if b, ok := builtin[name]; ok {
		return b.Kind, p.builtin(b.source), nil
	}
	return 0, bpf.Part{}, &filter.Error{
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
