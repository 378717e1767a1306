package tracer

import (
	"fmt"
	"math"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/sdt"
)

// planTexts adds what operands point to to the plan, for the fields that are text.
func (p *probe) planTexts(shift int64) error {
	ops := p.marker.Sites[p.site].Operands
	p.texts = make([]int, len(p.marker.Fields))
	for i := range p.marker.Fields {
		f := &p.marker.Fields[i]
		p.texts[i] = -1
		at := f.Operand - 1
		if !f.Kind.HasLength() || at >= len(ops) || p.errs[at] != nil {
			continue
		}
		t, err := p.textOf(ops, f, shift)
		if err != nil {
			p.errs[at] = err
			continue
		}
		if len(p.plan.Texts) == bpf.MaxStrings {
			p.errs[at] = fmt.Errorf("more than %d strings", bpf.MaxStrings)
			continue
		}
		p.texts[i] = len(p.plan.Texts)
		p.plan.Texts = append(p.plan.Texts, t)
	}
	return nil
}

// textOf says where a field's text lies.
func (p *probe) textOf(ops []sdt.Operand, f *Field, shift int64) (t bpf.Text, err error) {
	if t.Pointer, err = bpf.OperandValue(p.marker.File.machine, &ops[f.Operand-1], shift); err != nil || f.length == 0 {
		return t, err
	}
	if f.length > len(ops) {
		return t, errNone
	}
	t.Length, err = bpf.OperandValue(p.marker.File.machine, &ops[f.length-1], shift)
	return t, err
}

// text reads text number i of the plan, which a field's operand points to.
func (p *probe) text(raw *bpf.Raw, f *Field, i int, r reading) Value {
	size := uint64(math.MaxInt)
	if f.length > 0 {
		n := p.operand(raw, &Field{Operand: f.length, given: true})
		if n.Err != nil {
			return Value{Err: n.Err}
		}
		if size = n.Bits; size > math.MaxInt {
			return Value{Err: errLength}
		}
	}
	return p.textValue(raw, i, size, f.length > 0, r)
}

// textValue reads text number i of the plan, whose length is known to be size, or ends at a NUL.
func (p *probe) textValue(raw *bpf.Raw, i int, size uint64, sized bool, r reading) Value {
	kept, ok := raw.Text(p.plan, i, size)
	switch {
	case !ok:
		return Value{Err: errShort}
	case raw.TextFailed(p.plan, i):
		return Value{Err: errMemory}
	}
	v := Value{Len: int(size), Text: r.keep(kept[:min(len(kept), r.maxString)])}
	switch {
	case sized:
	case len(kept) > r.maxString:
		v.Len = -1
	default:
		v.Len = len(kept)
	}
	return v
}
