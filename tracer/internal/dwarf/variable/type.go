package variable

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
)

// Class says how values of a type are read.
type Class uint8

const (
	Unknown  Class = iota // of which only the name is known
	Signed                // an integer
	Unsigned              // the same without a sign
	Bool
	Char // of C: a letter that is a number
	Float
	Enum
	Pointer
	Struct // or a union, or a class
	Array
	GoString // a structure of Go, read as text
	GoSlice  // the same, as its elements
)

// Type is a type as the program has it, without qualifiers; names of its own are kept.
type Type struct {
	Name   string // as its language writes it
	Class  Class
	Size   int64 // in bytes, 0 when it is not known
	Signed bool  // of Char and Enum
	Count  int64 // of Array
	// Names are what an Enum's values are called.
	Names map[int64]string

	unit    *unitInfo
	entry   *dwarf.Entry
	elem    dwarf.Offset // of Pointer, Array and GoSlice; 0 for void
	members []Member     // read when asked for
	read    bool
}

// IsGo reports whether it is a type of Go.
func (t *Type) IsGo() bool { return t.unit.isGo }

// Member is a member of a structure.
type Member struct {
	Name     string // "" for one without
	Offset   int64  // in bytes
	Bits     int64  // of a bit field: how many, 0 for others
	BitsAt   int64  // from the beginning of the structure
	typ      dwarf.Offset
	Embedded bool // Go's embedded fields and C++'s base classes: their members are its own
}

const (
	maxTypeDepth = 64 // of typedefs, qualifiers and names
	maxMembers   = 4096
	maxNames     = 4096
	maxTypeName  = 256
)

var errType = errors.New("its type is not described")

// typeOf returns the type that an entry's attribute refers to.
func (u *unitInfo) typeOf(at dwarf.Offset) (*Type, error) { return u.resolve(at, maxTypeDepth) }

func (u *unitInfo) resolve(at dwarf.Offset, depth int) (*Type, error) {
	if t := u.types[at]; t != nil {
		return t, nil
	}
	if depth == 0 {
		return nil, errors.New("a type of too many types")
	}
	e, err := u.entryAt(at)
	if err != nil {
		return nil, err
	}
	t := &Type{unit: u, entry: e, Name: name(e)}
	t.Size, _ = e.Val(dwarf.AttrByteSize).(int64)
	if t.Size < 0 {
		return nil, fmt.Errorf("a type of %d bytes", t.Size)
	}
	t.elem, _ = e.Val(dwarf.AttrType).(dwarf.Offset)
	switch e.Tag {
	case dwarf.TagBaseType:
		err = t.base(e)
	case dwarf.TagTypedef, dwarf.TagConstType, dwarf.TagVolatileType, dwarf.TagRestrictType, dwarf.TagAtomicType:
		t, err = u.named(t, depth)
	case dwarf.TagPointerType, dwarf.TagReferenceType, dwarf.TagRvalueReferenceType, dwarf.TagPtrToMemberType:
		err = t.pointer(u, e.Tag, depth)
	case dwarf.TagStructType, dwarf.TagClassType, dwarf.TagUnionType, dwarf.TagInterfaceType:
		t.structure(e)
	case dwarf.TagEnumerationType:
		err = t.enumeration(u, e, depth)
	case dwarf.TagArrayType:
		err = t.array(u, e, depth)
	case dwarf.TagSubroutineType:
		if t.Name = or(t.Name, "function"); u.isGo { // a pointer to a closure
			t.Class, t.Size = Pointer, 8
		}
	default:
		t.Name = or(t.Name, "unknown")
	}
	if err != nil {
		return nil, err
	}
	t.Name = t.Name[:min(len(t.Name), maxTypeName)]
	u.types[at] = t
	return t, nil
}

// entryAt reads one entry, of any unit.
func (u *unitInfo) entryAt(at dwarf.Offset) (*dwarf.Entry, error) {
	r := u.file.Data.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err == nil && (e == nil || e.Tag == 0) {
		err = errType
	}
	return e, err
}

// base returns a base type by its offset in the unit.
func (u *unitInfo) base(offset dwarf.Offset) (*Type, error) {
	t, err := u.typeOf(u.Header() + offset)
	if err != nil {
		return nil, err
	}
	t2 := *t
	t2.Signed = t.Signed || t.Class == Signed
	return &t2, nil
}

func name(e *dwarf.Entry) string {
	s, _ := e.Val(dwarf.AttrName).(string)
	return s
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// Encodings of base types: DWARF 5, 7.8.
const (
	encBool         = 0x02
	encFloat        = 0x04
	encSigned       = 0x05
	encSignedChar   = 0x06
	encUnsigned     = 0x07
	encUnsignedChar = 0x08
	encUTF          = 0x10
)

func (t *Type) base(e *dwarf.Entry) error {
	encoding, _ := e.Val(dwarf.AttrEncoding).(int64)
	switch encoding {
	case encBool:
		t.Class = Bool
	case encFloat:
		t.Class = Float
	case encSigned:
		t.Class, t.Signed = Signed, true
	case encUnsigned:
		t.Class = Unsigned
	case encSignedChar:
		t.Class, t.Signed = Char, true
	case encUnsignedChar, encUTF:
		t.Class = Char
	}
	// A float of ten bytes, or a complex number, is known by its name only.
	switch t.Size {
	case 1, 2, 4, 8:
	default:
		t.Class = Unknown
	}
	if t.Class == Float && t.Size < 4 {
		t.Class = Unknown
	}
	return nil
}

// named is a typedef or a qualifier.
func (u *unitInfo) named(t *Type, depth int) (*Type, error) {
	if t.elem == 0 {
		t.Name = or(t.Name, "void")
		return t, nil
	}
	of, err := u.resolve(t.elem, depth-1)
	if err != nil {
		return nil, err
	}
	c := *of
	switch t.entry.Tag {
	case dwarf.TagTypedef:
		c.Name = or(t.Name, of.Name)
	case dwarf.TagConstType:
		c.Name = "const " + of.Name
	case dwarf.TagVolatileType:
		c.Name = "volatile " + of.Name
	}
	return &c, nil
}

func (t *Type) pointer(u *unitInfo, tag dwarf.Tag, depth int) error {
	t.Class = Pointer
	if t.Size == 0 {
		t.Size = 8
	}
	if t.Size != 8 || tag == dwarf.TagPtrToMemberType {
		t.Class = Unknown
	}
	if t.Name != "" { // Go names its pointers
		return nil
	}
	of := "void"
	if t.elem != 0 {
		// The name only, which must not follow pointers in a circle.
		if e, err := u.resolve(t.elem, depth-1); err == nil {
			of = e.Name
		} else {
			of = "…"
		}
	}
	t.Name = of + map[dwarf.Tag]string{dwarf.TagReferenceType: "&", dwarf.TagRvalueReferenceType: "&&"}[tag]
	if tag == dwarf.TagPointerType {
		t.Name = of + " *"
		if strings.HasSuffix(of, "*") {
			t.Name = of + "*"
		}
	}
	return nil
}

func (t *Type) structure(e *dwarf.Entry) {
	t.Class = Struct
	if t.Name != "" && !t.unit.isGo {
		switch e.Tag {
		case dwarf.TagStructType:
			if !t.unit.isCPlusPlus {
				t.Name = "struct " + t.Name
			}
		case dwarf.TagUnionType:
			if !t.unit.isCPlusPlus {
				t.Name = "union " + t.Name
			}
		}
	}
	t.Name = or(t.Name, "struct {…}")
	if t.unit.isGo {
		// DW_AT_go_kind is reflect.Kind: cmd/internal/dwarf.
		switch kind, _ := e.Val(attrGoKind).(int64); kind {
		case goString:
			t.Class = GoString
		case goSlice:
			t.Class = GoSlice
			t.elem, _ = e.Val(attrGoElem).(dwarf.Offset)
		}
	}
}

const (
	attrGoKind = dwarf.Attr(0x2900)
	attrGoElem = dwarf.Attr(0x2902)
	goSlice    = 23
	goString   = 24
)

func (t *Type) enumeration(u *unitInfo, e *dwarf.Entry, depth int) error {
	t.Class = Enum
	if t.Name != "" && !u.isCPlusPlus {
		t.Name = "enum " + t.Name
	}
	t.Name = or(t.Name, "enum {…}")
	if t.elem != 0 {
		of, err := u.resolve(t.elem, depth-1)
		if err != nil {
			return err
		}
		t.Signed = of.Class == Signed || of.Class == Char && of.Signed
	}
	t.Names = map[int64]string{}
	err := u.children(e, func(c *dwarf.Entry) bool {
		if v, ok := c.Val(dwarf.AttrConstValue).(int64); ok && c.Tag == dwarf.TagEnumerator {
			if _, known := t.Names[v]; !known {
				t.Names[v] = name(c)
			}
			t.Signed = t.Signed || t.elem == 0 && v < 0
		}
		return len(t.Names) < maxNames
	})
	switch t.Size {
	case 1, 2, 4, 8:
	default:
		t.Class = Unknown
	}
	return err
}

// array is one of one dimension; of more, elements are arrays that only have a name.
func (t *Type) array(u *unitInfo, e *dwarf.Entry, depth int) error {
	of, err := u.resolve(t.elem, depth-1)
	if err != nil {
		return err
	}
	var counts []int64
	err = u.children(e, func(c *dwarf.Entry) bool {
		if c.Tag == dwarf.TagSubrangeType {
			n := int64(-1)
			if v, ok := c.Val(dwarf.AttrCount).(int64); ok {
				n = v
			} else if v, ok := c.Val(dwarf.AttrUpperBound).(int64); ok {
				n = v + 1
			}
			counts = append(counts, n)
		}
		return len(counts) < 8
	})
	if t.Name == "" {
		t.Name = of.Name
		for _, n := range counts {
			if n < 0 {
				t.Name += "[]"
			} else {
				t.Name += fmt.Sprintf("[%d]", n)
			}
		}
	}
	if len(counts) == 1 && counts[0] >= 0 && counts[0] < 1<<40 && of.Size > 0 && of.Size < 1<<20 {
		t.Class, t.Count = Array, counts[0]
		t.Size = t.Count * of.Size
	}
	return err
}
