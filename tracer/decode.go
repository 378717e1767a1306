package tracer

import (
	"errors"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

var (
	errMemory = errors.New("memory could not be read")
	errShort  = errors.New("event is too short")
	errLength = errors.New("length is not one of a string")
	errNone   = errors.New("this site has no such argument")
)

// probe is one site that is attached to, and how its events are read.
type probe struct {
	marker *Marker
	site   int
	plan   *prog.Plan
	record *schema.Marker // nil: operands
	shift  int64          // how far behind the note's location it sits
	errs   []error        // for each operand why it has no value
	texts  []int          // for each field which text of the plan it is, -1 for numbers
	// fetched is for each field of a simple marker which value of the plan it is, -1 for none.
	fetched []int
	unbound error // why the condition does not fit
}

// newProbe plans what the events of a marker's site carry.
func newProbe(m *Marker, site int, shift int64) (*probe, error) {
	p := &probe{marker: m, site: site, shift: shift}
	if m.Simple != nil {
		return p, p.planSimple()
	}
	if site < len(model.Records(m)) {
		p.record = model.Record(m, site)
	}
	if p.record == nil || !p.record.Typed {
		p.plan, p.errs = prog.OperandPlan(model.Machine(m.File), m.Sites[site].Operands, shift)
		if p.record != nil { // a stub: R14 is the goroutine, whatever the arguments are
			p.plan.Goid = model.Goid(m.File)
		}
		p.record = nil
		return p, p.planTexts(shift)
	}
	size := 0
	var strings []int
	for _, f := range p.record.Fields {
		size = max(size, f.Offset+f.Kind.Size())
		if f.Kind.HasLength() {
			strings = append(strings, f.Offset)
		}
	}
	var err error
	p.plan, err = prog.RecordPlan(size, strings, model.Goid(m.File))
	return p, err
}

// reading is how the texts of an event are read.
type reading struct {
	maxString int
	text      *[]byte // what they go behind
}

// keep copies a text, never to nil.
func (r *reading) keep(text []byte) []byte {
	if *r.text == nil {
		*r.text = []byte{}
	}
	from := len(*r.text)
	*r.text = append(*r.text, text...)
	return (*r.text)[from:len(*r.text):len(*r.text)]
}

// values reads the values of an event, each of which may be missing, into a slice that is used
// again.
func (p *probe) values(raw *prog.Raw, values []event.Value, r reading) []event.Value {
	n := len(p.marker.Fields)
	values = slices.Grow(values[:0], n)[:n]
	clear(values)
	if p.marker.Simple != nil {
		p.simpleValues(raw, values, r)
		return values
	}
	if p.record == nil {
		for i := range values {
			if arg := model.ArgumentOf(p.marker, i); p.texts[i] >= 0 {
				values[i] = p.text(raw, arg, p.texts[i], r)
			} else {
				values[i] = p.operand(raw, p.marker.Fields[i].Kind, arg)
			}
		}
		return values
	}
	text := 0
	for i := range min(len(values), len(p.record.Fields)) {
		f := &p.record.Fields[i]
		values[i] = p.field(raw, f, text, r)
		if f.Kind.HasLength() {
			text++
		}
	}
	return values
}

// field reads one field of a record; text is how many strings precede it.
func (p *probe) field(raw *prog.Raw, f *event.Field, text int, r reading) event.Value {
	if raw.RecordFailed() {
		return event.Missing(errMemory)
	}
	b, ok := raw.Field(f.Offset, f.Kind.Size())
	if !ok {
		return event.Missing(errShort)
	}
	if !f.Kind.HasLength() {
		return event.Number(f.Kind, f.Kind.Bits(b))
	}
	n := event.Uint64.Bits(b[8:16])
	if n > math.MaxInt {
		return event.Missing(errLength)
	}
	kept, ok := raw.Text(p.plan, text, min(n, uint64(r.maxString)))
	switch {
	case !ok:
		return event.MissingText(int(n), errShort)
	case raw.TextFailed(p.plan, text):
		return event.MissingText(int(n), errMemory)
	}
	return event.Text(f.Kind, r.keep(kept), int(n))
}

// operand reads the operand of a field of kind k.
func (p *probe) operand(raw *prog.Raw, k event.Kind, arg Argument) event.Value {
	ops := p.marker.Sites[p.site].Operands
	i := arg.Operand - 1
	if i >= len(ops) {
		return event.Missing(errNone)
	}
	if p.errs[i] != nil {
		return event.Missing(p.errs[i])
	}
	o := &ops[i]
	if own := model.OperandKind(o); !model.Given(arg) && !model.Holds(k, own) {
		k = own
	}
	if o.Kind == sdt.Constant {
		return event.Number(k, widen(o, k, o.Value))
	}
	bits, ok := raw.Value(i)
	switch {
	case !ok:
		return event.Missing(errShort)
	case o.Kind == sdt.Memory && raw.ValueFailed(i):
		return event.Missing(errMemory)
	case o.Kind == sdt.Register:
		bits >>= o.Shift
	}
	from := event.Uint64
	if o.Signed && !o.Float {
		from = event.Int64
	}
	return event.Number(k, widen(o, k, from.Extend(bits, o.Size)))
}

// widen turns a float32 into a float64 for a field of those, which other sites pass.
func widen(o *sdt.Operand, k event.Kind, bits uint64) uint64 {
	if o.Float && o.Size == 4 && k == event.Float64 {
		return math.Float64bits(float64(math.Float32frombits(uint32(bits))))
	}
	return bits
}
