package tracer

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/bpf"
)

// Key is what hits have in common that are counted together. A Counter returns the same *Key
// for the same hits every time, so that it can be a key of a map.
type Key struct {
	// Values are one for each of Options.By. One that has none says why in Err.
	Values []Value
}

// KeyCount is how often a marker was hit with one Key.
type KeyCount struct {
	Key   *Key
	Count uint64
}

// KeyText is how many bytes of a string a Key has. Strings are told apart by them and by
// their whole length.
const KeyText = bpf.KeyText

// builtin is what every hit has, as fields.
var builtin = map[string]struct {
	source bpf.Source
	Field
}{
	"pid":       {bpf.FromPID, Field{Name: "pid", Type: "int", Kind: event.Int}},
	"tid":       {bpf.FromTID, Field{Name: "tid", Type: "int", Kind: event.Int}},
	"comm":      {bpf.FromComm, Field{Name: "comm", Type: "string", Kind: event.String}},
	"cpu":       {bpf.FromCPU, Field{Name: "cpu", Type: "int", Kind: event.Int}},
	"goroutine": {bpf.FromGoroutine, Field{Name: "goroutine", Type: "int64", Kind: event.Int64}},
}

// fieldIndex returns which field a name means: one of that name, or argN for the N-th. It is
// -1 when there is none.
func (m *Marker) fieldIndex(name string) int {
	for i := range m.Fields {
		if m.Fields[i].Name == name {
			return i
		}
	}
	if n := argument(name); m.Typed && n > 0 && n <= len(m.Fields) {
		return n - 1
	}
	at := m.positional(name)
	return slices.IndexFunc(m.Fields, func(f Field) bool { return at > 0 && f.Operand == at })
}

// keyField returns what a name in Options.By means for a marker.
func (m *Marker) keyField(name string) (Field, bool) {
	if b, ok := builtin[name]; ok {
		return b.Field, true
	}
	if i := m.fieldIndex(name); i >= 0 {
		return m.Fields[i], true
	}
	return Field{Name: name}, false
}

// checkKey reports whether each name means something for at least one of the markers.
func checkKey(markers []*Marker, by []string) error {
	if len(by) > bpf.MaxParts {
		return fmt.Errorf("counting by %d fields: at most %d", len(by), bpf.MaxParts)
	}
	for _, name := range by {
		known := false
		for _, m := range markers {
			if _, ok := m.keyField(name); ok {
				known = true
				break
			}
		}
		if !known {
			return noField(name, markers)
		}
	}
	return nil
}

// keyValue reads part i of a key, by that name and of that field.
func keyValue(k bpf.RawKey, i int, name string, f *Field) Value {
	switch {
	case k.Absent(i):
		return Value{Err: errNone}
	case k.Failed(i):
		return Value{Err: errMemory}
	case builtin[name].source == bpf.FromComm:
		comm := k.Comm(i)
		name, _, _ := bytes.Cut(comm[:], []byte{0})
		return Value{Text: bytes.Clone(name), Len: len(name)}
	case f.Kind.HasLength():
		text, n := k.Text(i)
		if n > math.MaxInt {
			return Value{Err: errLength}
		}
		if f.Operand > 0 && f.length == 0 && n == bpf.KeyText {
			return Value{Text: bytes.Clone(text[:n-1]), Len: -1}
		}
		return Value{Text: bytes.Clone(text), Len: int(n)}
	}
	return Value{Bits: k.Number(i)}
}
