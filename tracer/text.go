package tracer

import (
	"bytes"
	"errors"
	"fmt"
	"math"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/variable"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
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

// errNotHere is of a variable of which only other places of the marker know.
var errNotHere = fmt.Errorf("%w here", event.OptimizedOut)

// planSimple plans what events of a simple marker's site carry.
func (p *probe) planSimple() error {
	m := p.marker
	p.plan = &bpf.Plan{Goid: model.Goid(m.File)}
	if !model.GoCode(m) {
		p.plan.Goid = -1
	}
	all := model.ReadingsOf(m)[p.site]
	p.errs, p.texts, p.fetched = make([]error, len(all)), make([]int, len(all)), make([]int, len(all))
	for i, r := range all {
		p.texts[i], p.fetched[i] = -1, -1
		part, err := p.readingPart(i)
		switch {
		case err != nil:
			p.errs[i] = err
		case part.Source == bpf.FromText && len(p.plan.Texts) == bpf.MaxStrings:
			p.errs[i] = fmt.Errorf("more than %d texts and arrays", bpf.MaxStrings)
		case part.Source == bpf.FromValue && len(p.plan.Values) == bpf.MaxValues,
			r.Length != nil && len(p.plan.Values) == bpf.MaxValues:
			p.errs[i] = bpf.ErrTooMany
		case part.Source == bpf.FromText:
			p.texts[i] = len(p.plan.Texts)
			p.plan.Texts = append(p.plan.Texts, part.Text)
			if r.Length != nil { // events carry it, for texts that are cut
				p.fetched[i] = len(p.plan.Values)
				p.plan.Values = append(p.plan.Values, part.Text.Length)
			}
		default:
			p.fetched[i] = len(p.plan.Values)
			p.plan.Values = append(p.plan.Values, part.Value)
		}
	}
	return nil
}

// readingPart says where field i comes from at the probe's site.
func (p *probe) readingPart(i int) (bpf.Part, error) {
	r := model.ReadingsOf(p.marker)[p.site][i]
	switch {
	case r == nil:
		return bpf.Part{}, errNotHere
	case r.Err != nil:
		return bpf.Part{}, r.Err
	}
	number := func(steps location.Program, size int, signed bool) (bpf.Value, error) {
		return bpf.ComputedValue(model.Machine(p.marker.File), steps, size, signed)
	}
	if r.Pointer == nil {
		signed := r.Type.Class == variable.Signed || r.Type.Signed && r.Type.Class != variable.Float
		v, err := number(r.Number, int(r.Type.Size), signed)
		return bpf.Part{Source: bpf.FromValue, Value: v}, err
	}
	part := bpf.Part{Source: bpf.FromText}
	var err error
	if part.Text.Pointer, err = number(r.Pointer, 8, false); err == nil && r.Length != nil {
		part.Text.Length, err = number(r.Length, 8, false)
	}
	return part, err
}

// simplePart is part for a simple marker.
func (p *probe) simplePart(i int) (event.Kind, bpf.Part) {
	part, err := p.readingPart(i)
	if err != nil || model.ReadingsOf(p.marker)[p.site][i].Ended {
		return event.Invalid, bpf.Part{} // the kernel's program does not search an array for the end of its text
	}
	return model.ReadingKind(model.ReadingsOf(p.marker)[p.site][i]), part
}

// simpleValues reads the values of an event of a simple marker.
func (p *probe) simpleValues(raw *bpf.Raw, values []event.Value, r reading) {
	for i := range values {
		values[i] = p.simpleValue(raw, i, r)
	}
}

func (p *probe) simpleValue(raw *bpf.Raw, i int, how reading) event.Value {
	if p.errs[i] != nil {
		return event.Missing(p.errs[i])
	}
	r := model.ReadingsOf(p.marker)[p.site][i]
	var number uint64
	if at := p.fetched[i]; at >= 0 {
		bits, ok := raw.Value(at)
		switch {
		case !ok:
			return event.Missing(errShort)
		case raw.ValueFailed(at):
			return event.Missing(errMemory)
		}
		number = bits
	}
	// The instances of a generic function, or of a template, have types of their own.
	f := &p.marker.Fields[i]
	k := model.ReadingKind(r)
	if k == f.Kind && r.Elem != nil && f.Elem != event.Invalid && model.KindOf(r.Elem) != f.Elem {
		return event.Missing(errElements)
	}
	if k == event.Invalid {
		k = f.Kind
	}
	if p.texts[i] < 0 {
		return event.Number(k, number)
	}
	size := uint64(math.MaxInt)
	if r.Length != nil {
		if size = number; size > math.MaxInt {
			return event.Missing(errLength)
		}
	}
	v := p.textValue(raw, k, p.texts[i], size, r.Length != nil, how)
	if text := v.Bytes(); r.Ended && v.Err() == nil {
		if end := bytes.IndexByte(text, 0); end >= 0 {
			v = event.Text(k, text[:end], end)
		}
	}
	return v
}

var errElements = errors.New("its elements have another type here")
