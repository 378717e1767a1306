package tracer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
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
	plan   *bpf.Plan
	record *schema.Marker // nil: operands
	shift  int64          // how far behind the note's location it sits
	errs   []error        // for each operand why it has no value
	texts  []int          // for each field which text of the plan it is, -1 for numbers
	// fetched is for each field of a simple marker which value of the plan it is, -1 for none.
	fetched []int
}

// newProbe plans what the events of a marker's site carry.
func newProbe(m *Marker, site int, shift int64) (*probe, error) {
	p := &probe{marker: m, site: site, shift: shift}
	if m.Simple != nil {
		return p, p.planSimple()
	}
	if site < len(m.records) {
		p.record = m.records[site]
	}
	if p.record == nil || !p.record.Typed {
		p.plan, p.errs = bpf.OperandPlan(m.File.machine, m.Sites[site].Operands, shift)
		if p.record != nil { // a stub: R14 is the goroutine, whatever the arguments are
			p.plan.Goid = m.File.goid
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
	p.plan, err = bpf.RecordPlan(size, strings, m.File.goid)
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

// values reads the values of an event, each of which may be missing, into a slice that is used again.
func (p *probe) values(raw *bpf.Raw, values []Value, r reading) []Value {
	n := len(p.marker.Fields)
	values = slices.Grow(values[:0], n)[:n]
	clear(values)
	if p.marker.Simple != nil {
		p.simpleValues(raw, values, r)
		return values
	}
	if p.record == nil {
		for i := range values {
			if f := &p.marker.Fields[i]; p.texts[i] >= 0 {
				values[i] = p.text(raw, f, p.texts[i], r)
			} else {
				values[i] = p.operand(raw, f)
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
func (p *probe) field(raw *bpf.Raw, f *event.Field, text int, r reading) Value {
	if raw.RecordFailed() {
		return Value{Err: errMemory}
	}
	b, ok := raw.Field(f.Offset, f.Kind.Size())
	if !ok {
		return Value{Err: errShort}
	}
	if !f.Kind.HasLength() {
		return Value{Bits: extend(word(b), f.Kind.Size(), f.Kind.Signed())}
	}
	n := binary.NativeEndian.Uint64(b[8:])
	if n > math.MaxInt {
		return Value{Err: errLength}
	}
	v := Value{Len: int(n)}
	kept, ok := raw.Text(p.plan, text, min(n, uint64(r.maxString)))
	switch {
	case !ok:
		v.Err = errShort
	case raw.TextFailed(p.plan, text):
		v.Err = errMemory
	default:
		v.Text = r.keep(kept)
	}
	return v
}

// operand reads the operand that a field is.
func (p *probe) operand(raw *bpf.Raw, f *Field) Value {
	ops := p.marker.Sites[p.site].Operands
	i := f.Operand - 1
	if i >= len(ops) {
		return Value{Err: errNone}
	}
	if p.errs[i] != nil {
		return Value{Err: p.errs[i]}
	}
	o := &ops[i]
	var own event.Kind
	if k := operandKind(o); !f.given && !holds(f.Kind, k) {
		own = k
	}
	if o.Kind == sdt.Constant {
		return Value{Kind: own, Bits: widen(o, f, o.Value)}
	}
	bits, ok := raw.Value(i)
	switch {
	case !ok:
		return Value{Err: errShort}
	case o.Kind == sdt.Memory && raw.ValueFailed(i):
		return Value{Err: errMemory}
	case o.Kind == sdt.Register:
		bits >>= o.Shift
	}
	return Value{Kind: own, Bits: widen(o, f, extend(bits, o.Size, o.Signed && !o.Float))}
}

// widen turns a float32 into a float64 for a field of those, which other sites pass.
func widen(o *sdt.Operand, f *Field, bits uint64) uint64 {
	if o.Float && o.Size == 4 && f.Kind == event.Float64 {
		return math.Float64bits(float64(math.Float32frombits(uint32(bits))))
	}
	return bits
}

// word reads up to 8 bytes as a number.
func word(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b))
	case 4:
		return uint64(binary.NativeEndian.Uint32(b))
	case 8:
		return binary.NativeEndian.Uint64(b)
	}
	panic(fmt.Sprintf("tracer: a kind of %d bytes", len(b)))
}

// extend keeps the low size bytes of bits and extends them to 64 bits.
func extend(bits uint64, size int, signed bool) uint64 {
	shift := 64 - 8*size
	if shift <= 0 || size <= 0 {
		return bits
	}
	if signed {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits << shift >> shift
}
