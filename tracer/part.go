package tracer

import (
	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// key plans how hits of the site get their key: by the names of CountOptions.By.
func (p *probe) key(by []string) bpf.Key {
	k := make(bpf.Key, len(by))
	for i, name := range by {
		k[i] = p.keyPart(name)
	}
	return k
}

// keyPart plans one part. What a site does not have, or what cannot be read, is absent.
func (p *probe) keyPart(name string) bpf.Part {
	if b, ok := builtin[name]; ok {
		return p.builtin(b.source)
	}
	i := fieldIndex(p.marker, name)
	if i < 0 {
		return bpf.Part{}
	}
	kind, part, err := p.part(i)
	if is := p.marker.Fields[i].Kind; err != nil || kind != is && (kind.IsFloat() || is.IsFloat() || kind.HasLength() || is.HasLength()) {
		return bpf.Part{} // a float32 is no key where other sites pass a float64, nor text where they pass numbers
	}
	return part
}

// builtin says where what every hit has comes from. Only linked Go programs have goroutines.
func (p *probe) builtin(s bpf.Source) bpf.Part {
	if s == bpf.FromGoroutine && p.plan.Goid < 0 {
		return bpf.Part{}
	}
	return bpf.Part{Source: s, Goid: p.plan.Goid}
}

// part says where a field of the marker lies at the site, and of which kind it is there.
func (p *probe) part(i int) (event.Kind, bpf.Part, error) {
	if p.marker.Simple != nil {
		kind, part := p.simplePart(i)
		return kind, part, nil
	}
	if p.record == nil {
		kind, part := p.operandPart(p.marker.Fields[i].Kind, model.ArgumentOf(p.marker, i))
		return kind, part, nil
	}
	if i >= len(p.record.Fields) {
		return event.Invalid, bpf.Part{}, nil
	}
	f := &p.record.Fields[i]
	part, err := bpf.RecordPart(model.Machine(p.marker.File), f.Offset, f.Kind.Size(), f.Kind.Signed(), f.Kind.HasLength())
	return f.Kind, part, err
}

// operandPart is part for a field of kind k that comes from an operand. Other sites may have an
// operand that this site lacks.
func (p *probe) operandPart(k event.Kind, arg Argument) (event.Kind, bpf.Part) {
	ops := p.marker.Sites[p.site].Operands
	if arg.Operand > len(ops) {
		return event.Invalid, bpf.Part{}
	}
	t, err := p.textOf(ops, arg, p.shift)
	switch {
	case err != nil:
		return event.Invalid, bpf.Part{}
	case k.HasLength():
		return k, bpf.Part{Source: bpf.FromText, Text: t}
	case model.Given(arg):
		return k, bpf.Part{Source: bpf.FromValue, Value: t.Pointer}
	}
	return model.OperandKind(&ops[arg.Operand-1]), bpf.Part{Source: bpf.FromValue, Value: t.Pointer}
}
