package ctf

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of a trace's description. LTTng's kernel traces, the largest known, have some ten thousand
// fields.
const (
	maxFields     = 1 << 18 // after every name of a type is replaced by the type
	maxReferences = 1 << 16 // lengths and tags
	maxNesting    = 64
	maxAlign      = 1 << 20 // bits
	maxArray      = 1 << 30 // elements
)

// compiler turns types into nodes.
type compiler struct {
	order   ByteOrder // that Native stands for
	clocks  map[string]*Clock
	lone    *Clock // the clock of timestamps that name none
	slots   int
	fields  int
	scope   scope
	roots   [scopes]*node
	structs []*node // the scopes around the type being compiled, the outermost first
	nesting int
}

// root compiles one of the six structs; nil is an empty one.
func (c *compiler) root(s scope, t *Struct) (*node, error) {
	if t == nil {
		c.roots[s] = nil
		return nil, nil
	}
	c.scope, c.structs = s, nil
	n, err := c.compile(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", scopeNames[s], err)
	}
	c.roots[s] = n
	return n, nil
}

func (c *compiler) compile(t Type) (*node, error) {
	if c.fields++; c.fields > maxFields {
		return nil, fmt.Errorf("more than %d fields", maxFields)
	}
	if c.nesting++; c.nesting > maxNesting {
		return nil, fmt.Errorf("types are nested deeper than %d", maxNesting)
	}
	defer func() { c.nesting-- }()
	n := &node{typ: t, slot: -1, align: 1}
	switch t := t.(type) {
	case *Integer:
		return n, c.integer(n, t)
	case *Enum:
		return n, c.integer(n, &t.Integer)
	case *Float:
		n.kind = floatKind
		if t.Size != 32 && t.Size != 64 {
			return nil, fmt.Errorf("floating-point number of %d bits", t.Size)
		}
		return n, c.number(n, t.Size, t.Align, t.Order)
	case *String:
		n.kind, n.align = stringKind, 8
		return n, nil
	case *Struct:
		return n, c.structure(n, t)
	case *Variant:
		return n, c.variant(n, t)
	case *Array:
		n.kind, n.count = arrayKind, t.Len
		if t.Len < 0 || t.Len > maxArray {
			return nil, fmt.Errorf("array of %d elements", t.Len)
		}
		return n, c.elements(n, t.Elem)
	case *Sequence:
		n.kind = sequenceKind
		length, err := c.resolve(t.Length)
		if err != nil {
			return nil, err
		}
		if length.kind != integerKind || length.signed {
			return nil, fmt.Errorf("length %s is no unsigned integer", t.Length)
		}
		n.from = length.slot
		return n, c.elements(n, t.Elem)
	}
	return nil, errors.New("no type")
}

func (c *compiler) integer(n *node, t *Integer) error {
	n.kind, n.signed = integerKind, t.Signed
	if t.Size < 1 || t.Size > 64 {
		return fmt.Errorf("integer of %d bits", t.Size)
	}
	if t.Clock != "" {
		if n.clock = c.clocks[t.Clock]; n.clock == nil {
			return fmt.Errorf("there is no clock %s", t.Clock)
		}
	}
	return c.number(n, t.Size, t.Align, t.Order)
}

func (c *compiler) number(n *node, size, align int, order ByteOrder) error {
	if order == Native {
		order = c.order
	}
	n.size, n.big = size, order == BigEndian
	return n.setAlign(alignment(align, size))
}

func (n *node) setAlign(align int) error {
	if align < 1 || align > maxAlign || align&(align-1) != 0 {
		return fmt.Errorf("alignment of %d bits", align)
	}
	n.align = max(n.align, int64(align))
	return nil
}

func (c *compiler) structure(n *node, t *Struct) error {
	n.kind = structKind
	if err := n.setAlign(max(t.Align, 1)); err != nil {
		return err
	}
	top := len(c.structs) == 0
	c.structs = append(c.structs, n)
	defer func() { c.structs = c.structs[:len(c.structs)-1] }()
	for i := range t.Fields {
		f := &t.Fields[i]
		m, err := c.compile(f.Type)
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		if top {
			m.role = roleOf(c.scope, f.Name, f.Type)
		}
		c.mean(f.Name, m)
		n.fields = append(n.fields, m)
		n.align = max(n.align, m.align)
	}
	return nil
}

// mean gives fields the meanings that they have wherever they are in a header, and their clock
// to timestamps that name none.
func (c *compiler) mean(name string, n *node) {
	if n.kind != integerKind {
		return
	}
	switch {
	case c.scope == eventHeader && name == "id":
		n.role = eventRole
	case n.clock == nil && (c.scope == eventHeader && name == "timestamp" || n.role == beginRole):
		n.clock = c.lone
	}
}

func (c *compiler) elements(n *node, elem Type) (err error) {
	n.bytes = isBytes(elem)
	if n.elem, err = c.compile(elem); err == nil {
		n.align = n.elem.align // also when it is empty
	}
	return err
}

func (c *compiler) variant(n *node, t *Variant) error {
	n.kind = variantKind
	tag, err := c.resolve(t.Tag)
	if err != nil {
		return err
	}
	enum, ok := tag.typ.(*Enum)
	if !ok {
		return fmt.Errorf("tag %s is no enum", t.Tag)
	}
	n.tag, n.from = enum, tag.slot
	for i := range t.Options {
		m, err := c.compile(t.Options[i].Type)
		if err != nil {
			return fmt.Errorf("option %s: %w", t.Options[i].Name, err)
		}
		if c.scope == eventHeader && m.kind == integerKind && t.Options[i].Name == "timestamp" {
			c.mean("timestamp", m)
		}
		n.fields = append(n.fields, m)
	}
	for _, l := range enum.Labels {
		n.choice = append(n.choice, find(t.Options, l.Name))
	}
	return nil
}

// find returns the field that a word of the metadata means, the last one, -1 for none.
func find(fields []Field, word string) int {
	named := -1
	for i := range fields {
		switch {
		case fields[i].spelled() == word:
			return i
		case fields[i].Name == word:
			named = i
		}
	}
	return named
}

// spelled returns the name as metadata has it.
func (f *Field) spelled() string {
	if f.raw != "" {
		return f.raw
	}
	return "_" + f.Name
}

// resolve finds the field that a path names and gives it a slot (specification, 7.3.2): from a root, or
// in the structs around, the innermost first, or else in the scopes that are read before, the last
// first.
func (c *compiler) resolve(path string) (*node, error) {
	n := c.lookup(path)
	switch {
	case n == nil:
		return nil, fmt.Errorf("there is no field %q before it", path)
	case n.kind != integerKind:
		return nil, fmt.Errorf("field %q is no integer", path)
	}
	if n.slot < 0 {
		if c.slots++; c.slots > maxReferences {
			return nil, fmt.Errorf("more than %d lengths and tags", maxReferences)
		}
		n.slot = c.slots - 1
	}
	return n, nil
}

func (c *compiler) lookup(path string) *node {
	for s, name := range scopeNames {
		if rest, ok := strings.CutPrefix(path, name+"."); ok {
			switch {
			case scope(s) == c.scope && len(c.structs) > 0:
				return c.structs[0].descend(rest)
			case scope(s) < c.scope:
				return c.roots[s].descend(rest)
			}
			return nil
		}
	}
	for i := len(c.structs) - 1; i >= 0; i-- {
		if n := c.structs[i].descend(path); n != nil {
			return n
		}
	}
	for s := c.scope - 1; s >= 0; s-- {
		if n := c.roots[s].descend(path); n != nil {
			return n
		}
	}
	return nil
}

// descend follows a path through structs.
func (n *node) descend(path string) *node {
	for n != nil && n.kind == structKind {
		word, rest, more := strings.Cut(path, ".")
		// While a struct is being compiled, it has the nodes of the fields so far.
		i := find(n.typ.(*Struct).Fields[:len(n.fields)], word)
		if i < 0 {
			return nil
		}
		if n, path = n.fields[i], rest; !more {
			return n
		}
	}
	return nil
}
