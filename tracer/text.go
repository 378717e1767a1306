package tracer

import (
	"fmt"
	"math"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// planTexts adds what operands point to to the plan, for the fields that are text.
func (p *probe) planTexts(shift int64) error {
	ops := p.marker.Sites[p.site].Operands
	p.texts = make([]int, len(p.marker.Fields))
	for i := range p.marker.Fields {
		f := &p.marker.Fields[i]
		p.texts[i] = -1
		arg := model.ArgumentOf(p.marker, i)
		at := arg.Operand - 1
		if !f.Kind.HasLength() || at >= len(ops) || p.errs[at] != nil {
			continue
		}
		t, err := p.textOf(ops, arg, shift)
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

// textOf returns the location of an argument's text.
func (p *probe) textOf(ops []sdt.Operand, arg Argument, shift int64) (t bpf.Text, err error) {
	if t.Pointer, err = bpf.OperandValue(model.Machine(p.marker.File), &ops[arg.Operand-1], shift); err != nil || model.TextOperand(arg) == 0 {
		return t, err
	}
	if model.TextOperand(arg) > len(ops) {
		return t, errNone
	}
	t.Length, err = bpf.OperandValue(model.Machine(p.marker.File), &ops[model.TextOperand(arg)-1], shift)
	return t, err
}

// text reads text number i of the plan, to which an argument's operand points.
func (p *probe) text(raw *bpf.Raw, arg Argument, i int, r reading) event.Value {
	size := uint64(math.MaxInt)
	if model.TextOperand(arg) > 0 {
		n := p.operand(raw, event.Invalid, model.LengthOf(arg))
		if n.Err() != nil {
			return n
		}
		if size = n.Bits(); size > math.MaxInt {
			return event.Missing(errLength)
		}
	}
	return p.textValue(raw, event.String, i, size, model.TextOperand(arg) > 0, r)
}

// textValue reads text number i of the plan, of kind k. Its length is size, or it ends at a NUL.
func (p *probe) textValue(raw *bpf.Raw, k event.Kind, i int, size uint64, sized bool, r reading) event.Value {
	kept, ok := raw.Text(p.plan, i, size)
	switch {
	case !ok:
		return event.Missing(errShort)
	case raw.TextFailed(p.plan, i):
		return event.Missing(errMemory)
	}
	length := int(size)
	switch {
	case sized:
	case len(kept) > r.maxString:
		length = -1
	default:
		length = len(kept)
	}
	return event.Text(k, r.keep(kept[:min(len(kept), r.maxString)]), length)
}
