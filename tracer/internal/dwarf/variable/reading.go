package variable

import (
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// Reading is one value to fetch: a number, text, or the elements of an array.
type Reading struct {
	Name string // of the variable, or of its part: "req.Method"
	Type *Type  // of the value; nil when Err is of a variable without one
	// Number leaves the value, of which Type.Size bytes count, when it is one.
	Number location.Program
	// Pointer and Length are of text and of elements; without a Length a NUL ends the text.
	Pointer, Length location.Program
	// Elem is the type of the elements, nil for text.
	Elem *Type
	// Ended says that text with a Length ends at a NUL within it.
	Ended bool
	Err   error
}

// maxFlat is how many members of a structure are read unless others are asked for by name.
const maxFlat = 16

// Readings returns what to fetch of a variable, as its type says: structures as their members,
// one level deep. verb is the conversion that the marker's format has for it, 0 for none: %p of
// a pointer to text is the pointer.
func (v Variable) Readings(verb byte) []Reading {
	if v.Type == nil || v.Type.Class != Struct || v.Err != nil {
		return []Reading{v.reading(verb)}
	}
	members, err := v.Type.Members()
	if err != nil || len(members) == 0 {
		return []Reading{v.reading(verb)}
	}
	var all []Reading
	for i := range members {
		m := &members[i]
		part := v.at(m)
		if m.Name == "" || part.Type == nil || part.Type.Class == Struct || part.Type.Class == Unknown {
			continue // structures in structures are read when asked for
		}
		part.Name = v.Name + "." + m.Name
		if all = append(all, part.reading(0)); len(all) == maxFlat {
			break
		}
	}
	if len(all) == 0 {
		return []Reading{v.reading(verb)}
	}
	return all
}

func (v Variable) reading(verb byte) Reading {
	r := Reading{Name: v.Name, Type: v.Type, Err: v.Err}
	if r.Err != nil || v.Type == nil {
		return r
	}
	switch v.Type.Class {
	case Signed, Unsigned, Bool, Char, Float, Enum:
		r.Number, r.Err = v.Number(v.Type.Size)
	case Pointer:
		r.Number, r.Err = v.Number(8)
		if of, err := v.Type.Elem(); err == nil && r.Err == nil && verb != 'p' && verb != 'x' && of.isText() {
			r.Pointer, r.Number = r.Number, nil
		}
	case GoString, GoSlice:
		v.sequence(&r)
	case Array:
		v.array(&r)
	case Struct:
		r.Err = fmt.Errorf("%s is a structure: ask for its members, as %s.…", v.Type.Name, v.Name)
	default:
		r.Err = fmt.Errorf("values of type %s are not read", v.Type.Name)
	}
	return r
}

// isText reports whether a pointer to the type, or an array of it, is text: char, of any sign.
func (t *Type) isText() bool { return t.Class == Char && t.Size == 1 && !t.unit.isGo }

// Read reports whether elements of the type are read.
func (t *Type) isElement() bool {
	switch t.Class {
	case Signed, Unsigned, Bool, Char, Float, Enum, Pointer:
		return true
	}
	return false
}

// sequence is a string or slice of Go: an address and a length.
func (v Variable) sequence(r *Reading) {
	array, length := v.Part(0, 8), v.Part(8, 8)
	if r.Pointer, r.Err = array.Number(8); r.Err != nil {
		return
	}
	if r.Length, r.Err = length.Number(8); r.Err != nil || v.Type.Class == GoString {
		return
	}
	of, err := v.Type.Elem()
	switch {
	case err != nil:
		r.Err = err
	case of.isElement():
		r.Elem = of
		r.Length = times(r.Length, of.Size)
	default: // elements that are structures: how many
		r.Name = "len(" + v.Name + ")"
		r.Number, r.Pointer, r.Length = r.Length, nil, nil
		r.Type = &Type{Name: "int", Class: Signed, Size: 8, Signed: true, unit: v.Type.unit}
	}
}

func times(p location.Program, n int64) location.Program {
	if n == 1 {
		return p
	}
	return p.With(location.Step{Op: location.Push, Arg: n}, location.Step{Op: location.Mul})
}

// array is of C, or of Go: read where it lies in memory.
func (v Variable) array(r *Reading) {
	of, err := v.Type.Elem()
	switch {
	case err != nil:
		r.Err = err
		return
	case !of.isElement():
		r.Err = fmt.Errorf("%s is an array of %s: ask for its elements, as %s[0]", strings.TrimSpace(v.Name), of.Name, v.Name)
		return
	case v.Kind != Memory:
		r.Err = unavailable("an array that is not in memory as a whole")
		return
	}
	if r.Err = v.Program.Check(); r.Err != nil {
		return
	}
	r.Pointer = v.Program
	r.Length = location.Program{{Op: location.Push, Arg: v.Type.Size}}
	if r.Ended = of.isText(); !r.Ended {
		r.Elem = of
	}
}
