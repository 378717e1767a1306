package debuginfo

import (
	"debug/dwarf"
	"fmt"
)

// Node is what a walk tells of an entry. Data has the rest of it, at its offset.
type Node struct {
	Offset   dwarf.Offset
	Tag      dwarf.Tag
	Children bool
	Code     bool     // it has an address, or ranges of them
	Declared Declared // of a function: where the source says it begins
	// HasDeclared says that it says both.
	HasDeclared bool
	// Within is set by the visitor of a type that wants what is in it.
	Within bool
}

// Walk calls visit for every entry of a unit behind its first, with the depth that it is at: 1
// for the unit's children. What is in types is left out where it is known where they end: it is half of
// what a C++ program has, and functions in it are declarations. n is the visitor's until it returns.
// A walk takes some 20 ns an entry, and no memory.
func (f *File) Walk(u *Unit, visit func(n *Node, depth int) error) error {
	info, err := f.Section("info")
	if err != nil {
		return err
	}
	table, err := f.abbreviations(u)
	if err != nil {
		return err
	}
	b := &Buffer{Data: info[:u.End], At: int(u.First)}
	var n Node
	for depth := 0; b.Len() > 0; {
		at := b.At
		code := b.Uleb()
		if code == 0 {
			if depth--; depth <= 0 {
				return nil
			}
			continue
		}
		a := table.of(code)
		if a == nil {
			return fmt.Errorf("entry at %#x: no abbreviation has the code %d", at, code)
		}
		n = Node{Offset: dwarf.Offset(at), Tag: a.tag, Children: a.children, Code: a.code}
		sibling, err := n.read(u, table, a, b)
		if err != nil {
			return fmt.Errorf("entry at %#x: %w", at, err)
		}
		if depth > 0 {
			if err := visit(&n, depth); err != nil {
				return err
			}
		}
		switch {
		case !a.children && depth == 0:
			return nil
		case a.children && depth > 0 && isType(a.tag) && !n.Within && sibling >= b.At && sibling < int(u.End):
			b.At = sibling
		case a.children:
			depth++
		}
	}
	return b.Err
}

// read reads the values of an entry. sibling is where the next one at its depth is, 0 if it does not say.
func (n *Node) read(u *Unit, t *abbreviations, a *abbreviation, b *Buffer) (sibling int, err error) {
	has := 0
	for i := range a.steps {
		s := &a.steps[i]
		switch s.attr {
		case 0:
			if s.size > 0 {
				b.skip(s.size)
			} else if err := t.skip(b, s.form); err != nil {
				return 0, err
			}
		case dwarf.AttrSibling:
			sibling = int(min(t.reference(b, s, u), uint64(u.End)))
		case dwarf.AttrDeclFile:
			n.Declared.File = t.number(b, s)
			has++
		case dwarf.AttrDeclLine:
			n.Declared.Line = t.number(b, s)
			has++
		}
	}
	n.HasDeclared = has == 2
	return sibling, b.Err
}

// reference reads where another entry is.
func (t *abbreviations) reference(b *Buffer, s *step, u *Unit) uint64 {
	switch s.form {
	case formRef1, formRef2, formRef4, formRef8:
		return uint64(u.header) + b.Uint(s.size)
	case formRefUdata:
		return uint64(u.header) + b.Uleb()
	case formRefAddr:
		return b.Uint(s.size)
	}
	t.number(b, s)
	return 0
}

// number reads a number.
func (t *abbreviations) number(b *Buffer, s *step) int64 {
	switch {
	case s.form == formImplicitConst:
		return s.constant
	case s.form == formUdata:
		return int64(b.Uleb())
	case s.form == formSdata:
		return b.Sleb()
	case s.size > 0 && s.size <= 8:
		return int64(b.Uint(s.size))
	}
	if s.size > 0 {
		b.skip(s.size)
	} else if err := t.skip(b, s.form); err != nil {
		b.Err = err
	}
	return 0
}

func isType(t dwarf.Tag) bool {
	return t == dwarf.TagStructType || t == dwarf.TagClassType || t == dwarf.TagUnionType || t == dwarf.TagEnumerationType
}

// EntryAt returns the entry at an offset.
func (f *File) EntryAt(at dwarf.Offset) (*dwarf.Entry, error) {
	r := f.Data.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err == nil && e == nil {
		err = fmt.Errorf("there is no entry at %#x", at)
	}
	return e, err
}
