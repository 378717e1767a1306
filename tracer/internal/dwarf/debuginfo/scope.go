package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"slices"
)

// Scope is a function, a function that was inlined, or a block, where it has code.
type Scope struct {
	Entry     *dwarf.Entry
	Parent    *Scope         // nil for a function
	Children  []*Scope       // within it, until Forget
	Variables []*dwarf.Entry // parameters and variables that it declares itself, where it has code that was asked for
	Ranges    [][2]uint64    // of its code
	Unit      *Unit
	Compile   *dwarf.Entry // of the unit
}

// Has reports whether the scope has code at an address.
func (s *Scope) Has(address uint64) bool {
	return slices.ContainsFunc(s.Ranges, func(r [2]uint64) bool { return r[0] <= address && address < r[1] })
}

// At returns the innermost scope at an address, nil when s has no code there.
func (s *Scope) At(address uint64) *Scope {
	if !s.Has(address) {
		return nil
	}
	for {
		i := slices.IndexFunc(s.Children, func(c *Scope) bool { return c.Has(address) })
		if i < 0 {
			return s
		}
		s = s.Children[i]
	}
}

// Origin returns an attribute of the scope's entry, or of what that is an instance of.
func (f *File) Origin(e *dwarf.Entry, a dwarf.Attr) any {
	v, _ := f.origin(e, a)
	return v
}

// OriginUnit returns the unit of the entry that has what Origin returns, nil for none: after optimization at link time it is
// not the one that the code is in, and numbers of files are its.
func (f *File) OriginUnit(e *dwarf.Entry, a dwarf.Attr) *Unit {
	v, has := f.origin(e, a)
	if v == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(f.Units, has.Offset, func(u Unit, at dwarf.Offset) int { return cmp.Compare(u.End, at+1) })
	if i == len(f.Units) || has.Offset < f.Units[i].First {
		return nil
	}
	return &f.Units[i]
}

func (f *File) origin(e *dwarf.Entry, a dwarf.Attr) (any, *dwarf.Entry) {
	for range maxOrigins {
		if v := e.Val(a); v != nil {
			return v, e
		}
		at, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			at, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			return nil, nil
		}
		next, err := f.EntryAt(at)
		if err != nil {
			return nil, nil
		}
		e = next
	}
	return nil, nil
}

// maxOrigins bounds how often an entry refers to another for what it is.
const maxOrigins = 8

// Name returns what the source calls a function.
func (f *File) Name(s *Scope) string {
	name, _ := f.Origin(s.Entry, dwarf.AttrName).(string)
	return name
}

// Function returns the function, inlined or not, that the scope is or is in.
func (s *Scope) Function() *Scope {
	for s != nil && s.Entry.Tag != dwarf.TagSubprogram && s.Entry.Tag != dwarf.TagInlinedSubroutine {
		s = s.Parent
	}
	return s
}

// Outermost returns the function whose code it is.
func (s *Scope) Outermost() *Scope {
	for s.Parent != nil {
		s = s.Parent
	}
	return s
}

// maxNesting bounds how deep entries nest within a unit.
const maxNesting = 1 << 10

// Declared is where a function begins in the source, by the unit's number of the file.
type Declared struct{ File, Line int64 }

// Functions returns the functions of a unit that have code at any of the addresses, with all
// that is in them, and where functions begin that are not within others.
func (f *File) Functions(u *Unit, compile *dwarf.Entry, addresses []uint64) (found []*Scope, declared map[Declared]bool, err error) {
	addresses = slices.Clone(addresses)
	slices.Sort(addresses)
	declared = map[Declared]bool{}
	outer := 0         // the depth of the function around, 0 for none
	var stack []*Scope // by depth; nil where nothing is of interest
	err = f.Walk(u, func(n *Node, depth int) error {
		if depth > maxNesting {
			return nil
		}
		for len(stack) < depth { // entries that were not of interest
			stack = append(stack, nil)
		}
		stack = stack[:depth]
		if depth <= outer {
			outer = 0
		}
		var s *Scope
		var err error
		switch around := stack[depth-1]; n.Tag {
		case dwarf.TagFormalParameter, dwarf.TagVariable:
			if around != nil && around.hasAny(addresses) {
				var e *dwarf.Entry
				if e, err = f.EntryAt(n.Offset); err == nil {
					around.Variables = append(around.Variables, e)
				}
			}
		case dwarf.TagSubprogram:
			if n.HasDeclared && outer == 0 {
				declared[n.Declared] = true
			}
			if outer == 0 {
				outer = depth
			}
			if s, err = f.scope(u, compile, n, nil, addresses); s != nil && !s.hasAny(addresses) {
				s = nil
			}
			if s != nil {
				found = append(found, s)
			}
		case dwarf.TagInlinedSubroutine, dwarf.TagLexDwarfBlock, dwarf.TagTryDwarfBlock, dwarf.TagCatchDwarfBlock:
			if around != nil {
				s, err = f.scope(u, compile, n, around, addresses)
			}
		}
		stack = append(stack, s)
		return err
	})
	return found, declared, err
}

func (s *Scope) hasAny(sorted []uint64) bool {
	return slices.ContainsFunc(s.Ranges, func(r [2]uint64) bool {
		i, _ := slices.BinarySearch(sorted, r[0])
		return i < len(sorted) && sorted[i] < r[1]
	})
}

// scope returns the scope of an entry, nil when it has no code.
func (f *File) scope(u *Unit, compile *dwarf.Entry, n *Node, parent *Scope, sorted []uint64) (*Scope, error) {
	if !n.Code {
		return nil, nil
	}
	e, err := f.EntryAt(n.Offset)
	if err != nil {
		return nil, err
	}
	ranges, err := f.Data.Ranges(e)
	if err != nil || len(ranges) == 0 {
		return nil, nil
	}
	s := &Scope{Entry: e, Parent: parent, Ranges: ranges, Unit: u, Compile: compile}
	if !s.hasAny(sorted) {
		s.Entry = &dwarf.Entry{Offset: e.Offset, Tag: e.Tag} // it is only of interest where it is
	}
	if parent != nil {
		parent.Children = append(parent.Children, s)
	}
	return s, nil
}

// Forget lets go of what is within a function, save the scopes that somebody still has and those around them.
func (s *Scope) Forget() {
	for work := []*Scope{s}; len(work) > 0; {
		s := work[len(work)-1]
		work = append(work[:len(work)-1], s.Children...)
		s.Children = nil
	}
}
