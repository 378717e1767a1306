package tracer

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

// Key is what hits have in common that are counted together. A Counter returns the same *Key
// for the same hits every time, so that it can be a key of a map.
type Key struct {
	// Values are one for each of CountOptions.By. One that has none says why in Err.
	Values []event.Value
}

// KeyCount is how often a marker was hit with one Key.
type KeyCount struct {
	Key   *Key
	Count uint64
}

var _ = [1]struct{}{}[source.KeyText-bpf.KeyText] // the kernel and this process cut texts alike

// builtin is what every hit has, as fields.
var builtin = map[string]struct {
	source bpf.Source
	event.Field
}{
	"pid":       {bpf.FromPID, event.Field{Name: "pid", Type: "int", Kind: event.Int}},
	"tid":       {bpf.FromTID, event.Field{Name: "tid", Type: "int", Kind: event.Int}},
	"comm":      {bpf.FromComm, event.Field{Name: "comm", Type: "string", Kind: event.String}},
	"cpu":       {bpf.FromCPU, event.Field{Name: "cpu", Type: "int", Kind: event.Int}},
	"goroutine": {bpf.FromGoroutine, event.Field{Name: "goroutine", Type: "int64", Kind: event.Int64}},
}

// fieldIndex returns which field a name means: one of that name, or argN for the N-th. It is
// -1 when there is none.
func fieldIndex(m *Marker, name string) int {
	if i := m.Field(name); i >= 0 {
		return i
	}
	if n := event.ArgNumber(name); m.Typed && n > 0 && n <= len(m.Fields) {
		return n - 1
	}
	at := model.Positional(m, name)
	return slices.IndexFunc(m.Args, func(a Argument) bool { return at > 0 && a.Operand == at })
}

// keyField returns what a name in CountOptions.By means for a marker.
func keyField(m *Marker, name string) (event.Field, bool) {
	if b, ok := builtin[name]; ok {
		return b.Field, true
	}
	if i := fieldIndex(m, name); i >= 0 {
		return m.Fields[i], true
	}
	return event.Field{Name: name}, false
}

// keyFields returns the fields of a marker named by CountOptions.By.
func keyFields(m *Marker, by []string) []event.Field {
	fields := make([]event.Field, len(by))
	for i, name := range by {
		fields[i], _ = keyField(m, name)
	}
	return fields
}

// keyArgument returns the source of the field with a name in CountOptions.By.
func keyArgument(m *Marker, name string) Argument {
	if _, ok := builtin[name]; ok {
		return Argument{}
	}
	return model.ArgumentOf(m, fieldIndex(m, name))
}

// checkKey reports whether each name means something for at least one of the markers.
func checkKey(markers []*Marker, by []string) error {
	if len(by) > bpf.MaxParts {
		return fmt.Errorf("counting by %d fields: at most %d", len(by), bpf.MaxParts)
	}
	for _, name := range by {
		known := false
		for _, m := range markers {
			if _, ok := keyField(m, name); ok {
				known = true
				break
			}
		}
		if !known {
			return model.NoField(name, markers)
		}
	}
	return nil
}

// keyValue reads part i of a key. The part has a name and a field, and the field comes from arg.
func keyValue(k bpf.RawKey, i int, name string, f *event.Field, arg Argument) event.Value {
	switch {
	case k.Absent(i):
		return event.Missing(errNone)
	case k.Failed(i):
		return event.Missing(errMemory)
	case builtin[name].source == bpf.FromComm:
		comm := k.Comm(i)
		name, _, _ := bytes.Cut(comm[:], []byte{0})
		return event.Text(event.String, bytes.Clone(name), len(name))
	case f.Kind.HasLength():
		text, n := k.Text(i)
		if n > math.MaxInt {
			return event.Missing(errLength)
		}
		if arg.Operand > 0 && model.TextOperand(arg) == 0 && n == bpf.KeyText {
			return event.Text(f.Kind, bytes.Clone(text[:n-1]), -1)
		}
		return event.Text(f.Kind, bytes.Clone(text), int(n))
	}
	return event.Number(f.Kind, k.Number(i))
}

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
