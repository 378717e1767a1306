package tracer

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
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

var _ = [1]struct{}{}[source.KeyText-prog.KeyText] // the kernel and this process cut texts alike

// builtin is the source of each of the values that every hit has: source.Builtin.
var builtin = map[string]prog.Source{
	"pid": prog.FromPID, "tid": prog.FromTID, "comm": prog.FromComm, "cpu": prog.FromCPU, "goroutine": prog.FromGoroutine,
	"gid": prog.FromGoroutine,
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

// keyField returns what a name in CountOptions.By means for a marker: a field, or else what every hit
// has. Conditions resolve names in the same order: (*probe).variable.
func keyField(m *Marker, name string) (event.Field, bool) {
	if i := fieldIndex(m, name); i >= 0 {
		return m.Fields[i], true
	}
	return source.BuiltinField(name)
}

// keyFields returns the fields of a marker named by CountOptions.By.
func keyFields(m *Marker, by []string) []event.Field {
	fields := make([]event.Field, len(by))
	for i, name := range by {
		fields[i], _ = keyField(m, name)
	}
	return fields
}

// checkKey reports whether each name means something for at least one of the markers.
func checkKey(markers []*Marker, by []string) error {
	if len(by) > prog.MaxParts {
		return fmt.Errorf("counting by %d fields: at most %d", len(by), prog.MaxParts)
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

// keyValue reads part i of a key, which is what a name means for a marker.
func keyValue(k prog.RawKey, i int, m *Marker, name string) event.Value {
	f, _ := keyField(m, name)
	at := fieldIndex(m, name)
	arg := model.ArgumentOf(m, at)
	switch {
	case k.Absent(i):
		return event.Missing(errNone)
	case k.Failed(i):
		return event.Missing(errMemory)
	case at < 0 && builtin[name] == prog.FromComm:
		comm := k.Comm(i)
		name, _, _ := bytes.Cut(comm[:], []byte{0})
		return event.Text(event.String, bytes.Clone(name), len(name))
	case f.Kind.HasLength():
		text, n := k.Text(i)
		if n > math.MaxInt {
			return event.Missing(errLength)
		}
		if arg.Operand > 0 && model.TextOperand(arg) == 0 && n == prog.KeyText {
			return event.Text(f.Kind, bytes.Clone(text[:n-1]), -1)
		}
		return event.Text(f.Kind, bytes.Clone(text), int(n))
	}
	return event.Number(f.Kind, k.Number(i))
}

// key plans how hits of the site get their key: by the names of CountOptions.By.
func (p *probe) key(by []string) prog.Key {
	k := make(prog.Key, len(by))
	for i, name := range by {
		k[i] = p.keyPart(name)
	}
	return k
}

// keyPart plans one part. What a site does not have, or what cannot be read, is absent.
func (p *probe) keyPart(name string) prog.Part {
	i := fieldIndex(p.marker, name)
	if i < 0 {
		return p.builtin(builtin[name])
	}
	kind, part, err := p.part(i)
	if err != nil || !alike(kind, p.marker.Fields[i].Kind) {
		return prog.Part{} // a float32 is no key where other sites pass a float64, nor text where they pass numbers
	}
	return part
}

// alike reports whether values of two kinds can be told apart in one column.
func alike(a, b event.Kind) bool {
	return a == b || !a.IsFloat() && !b.IsFloat() && !a.HasLength() && !b.HasLength()
}

// builtin returns a value that every hit has as a part. Only linked Go programs have goroutines.
func (p *probe) builtin(s prog.Source) prog.Part {
	if s == prog.FromGoroutine && p.plan.Goid < 0 {
		return prog.Part{}
	}
	return prog.Part{Source: s, Goid: p.plan.Goid}
}

// part says where a field of the marker lies at the site, and of which kind it is there.
func (p *probe) part(i int) (event.Kind, prog.Part, error) {
	if p.marker.Simple != nil {
		kind, part := p.simplePart(i)
		return kind, part, nil
	}
	if p.record == nil {
		kind, part := p.operandPart(p.marker.Fields[i].Kind, model.ArgumentOf(p.marker, i))
		return kind, part, nil
	}
	if i >= len(p.record.Fields) {
		return event.Invalid, prog.Part{}, nil
	}
	f := &p.record.Fields[i]
	part, err := prog.RecordPart(model.Machine(p.marker.File), f.Offset, f.Kind.Size(), f.Kind.Signed(), f.Kind.HasLength())
	return f.Kind, part, err
}

// operandPart is part for a field of kind k that comes from an operand. Other sites may have an
// operand that this site lacks.
func (p *probe) operandPart(k event.Kind, arg Argument) (event.Kind, prog.Part) {
	ops := p.marker.Sites[p.site].Operands
	if arg.Operand > len(ops) {
		return event.Invalid, prog.Part{}
	}
	t, err := p.textOf(ops, arg, p.shift)
	switch {
	case err != nil:
		return event.Invalid, prog.Part{}
	case k.HasLength():
		return k, prog.Part{Source: prog.FromText, Text: t}
	case model.Given(arg):
		return k, prog.Part{Source: prog.FromValue, Value: t.Pointer}
	}
	return model.OperandKind(&ops[arg.Operand-1]), prog.Part{Source: prog.FromValue, Value: t.Pointer}
}
