package variable

import (
	"debug/dwarf"
	"fmt"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// children calls visit for the entries directly below an entry until it returns false.
func (u *unitInfo) children(e *dwarf.Entry, visit func(*dwarf.Entry) bool) error {
	if !e.Children {
		return nil
	}
	r := u.file.Data.Reader()
	r.Seek(e.Offset)
	if _, err := r.Next(); err != nil {
		return err
	}
	depth := 0
	for range maxChildren { // debug/dwarf's word is not taken for where it ends
		c, err := r.Next()
		switch {
		case err != nil:
			return err
		case c == nil:
			return nil
		case c.Tag == 0:
			if depth--; depth < 0 {
				return nil
			}
			continue
		}
		if depth == 0 && !visit(c) {
			return nil
		}
		if c.Children {
			depth++
		}
	}
	return fmt.Errorf("an entry with more than %d below it", maxChildren)
}

const maxChildren = 1 << 20

// Elem returns the type that a pointer points to, or of the elements of an array or slice.
func (t *Type) Elem() (*Type, error) {
	if t.elem == 0 {
		return nil, errType
	}
	return t.unit.typeOf(t.elem)
}

// Members returns the members of a structure.
func (t *Type) Members() ([]Member, error) {
	if t.read {
		return t.members, nil
	}
	e := t.structureEntry()
	if declared, _ := e.Val(dwarf.AttrDeclaration).(bool); declared {
		return nil, fmt.Errorf("%s is declared here, and described elsewhere", t.Name)
	}
	var members []Member
	err := t.unit.children(e, func(c *dwarf.Entry) bool {
		if c.Tag == dwarf.TagMember || c.Tag == dwarf.TagInheritance {
			if m, ok := member(c, t.unit); ok {
				members = append(members, m)
			}
		}
		return len(members) < maxMembers
	})
	t.members, t.read = members, err == nil
	return members, err
}

// structureEntry is the entry behind typedefs and qualifiers.
func (t *Type) structureEntry() *dwarf.Entry {
	e := t.entry
	for range maxTypeDepth {
		switch e.Tag {
		case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		default:
			return e
		}
		at, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
		next, err := t.unit.entryAt(at)
		if !ok || err != nil {
			return e
		}
		e = next
	}
	return e
}

// member reads a member; static ones have no place in the structure.
func member(e *dwarf.Entry, u *unitInfo) (Member, bool) {
	m := Member{Name: name(e), Embedded: e.Tag == dwarf.TagInheritance}
	m.typ, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
	if external, _ := e.Val(dwarf.AttrExternal).(bool); external {
		return m, false
	}
	switch v := e.Val(dwarf.AttrDataMemberLoc).(type) {
	case int64:
		m.Offset = v
	case []byte: // DWARF 2 and 3: an expression that adds a constant
		b := debuginfo.Buffer{Data: v}
		if b.Uint(1) != opPlusUconst {
			return m, false // a virtual base class: where it is, is known at run time
		}
		m.Offset = int64(b.Uleb())
	}
	m.Bits, _ = e.Val(dwarf.AttrBitSize).(int64)
	if at, ok := e.Val(dwarf.AttrDataBitOffset).(int64); ok {
		m.BitsAt = at
	} else if at, ok := e.Val(dwarf.AttrBitOffset).(int64); ok { // from the highest bit: DWARF 3
		size, _ := e.Val(dwarf.AttrByteSize).(int64)
		if size == 0 {
			if t, err := u.typeOf(m.typ); err == nil {
				size = t.Size
			}
		}
		m.BitsAt = 8*(m.Offset+size) - at - m.Bits
	} else {
		m.BitsAt = 8 * m.Offset
	}
	if embedded, _ := e.Val(attrGoEmbedded).(bool); embedded {
		m.Embedded = true
	}
	return m, m.Offset >= 0 && m.Bits >= 0 && m.Bits <= 64 && m.BitsAt >= 0
}

const attrGoEmbedded = dwarf.Attr(0x2903)

// Type returns the member's type.
func (t *Type) memberType(m *Member) (*Type, error) { return t.unit.typeOf(m.typ) }
