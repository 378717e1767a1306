package variable

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// Variable is a variable, or a part of one, at an address.
type Variable struct {
	Name string // as it was asked for
	Type *Type  // nil when it is not known
	Location
}

// Frame is an address, and the scope around it.
type Frame struct {
	site
	scope *debuginfo.Scope
	line  int64
}

// Point is where variables are looked up.
type Point struct {
	debuginfo.Position
	Probe uint64 // where the probe is: before the address or after it, and nothing happens between
	Line  int    // of the source: variables declared below it are not in scope yet; 0 is below all
}

// At returns the frame of a point in a scope.
func At(f *debuginfo.File, scope *debuginfo.Scope, p Point) *Frame {
	fr := &Frame{scope: scope, line: int64(p.Line)}
	fr.site = site{file: f, unit: newUnit(f, scope.Unit, scope.Compile), pc: p.Address, at: p.Probe, views: p.Views, base: fr.frameBase}
	return fr
}

// frameBase is what the outermost function says its frame is at.
func (fr *Frame) frameBase() (Location, error) {
	expr, err := fr.unit.expression(fr.scope.Outermost().Entry, dwarf.AttrFrameBase, point{address: fr.pc, view: debuginfo.NoView})
	if err != nil {
		return Location{}, unavailable("the frame's address: %w", err)
	}
	if expr == nil {
		return Location{}, unavailable("its function says nothing about its frame")
	}
	l := fr.locate(expr)
	if l.Kind == Value {
		l.Text = strings.TrimPrefix(l.Text, "register ")
	}
	return l, l.Err
}

// attribute returns an attribute of an entry, or of what the entry is an instance of.
func (u *unitInfo) attribute(e *dwarf.Entry, a dwarf.Attr) any { return u.file.Origin(e, a) }

func (u *unitInfo) nameOf(e *dwarf.Entry) string {
	s, _ := u.attribute(e, dwarf.AttrName).(string)
	return s
}

// variable returns what an entry declares.
func (fr *Frame) variable(e *dwarf.Entry, name string) Variable {
	v := Variable{Name: name}
	at, ok := fr.unit.attribute(e, dwarf.AttrType).(dwarf.Offset)
	if !ok {
		v.Location = nowhere(errType)
		return v
	}
	var err error
	if v.Type, err = fr.unit.typeOf(at); err != nil {
		v.Location = nowhere(err)
		return v
	}
	v.Location = fr.location(e, v.Type)
	if strings.HasPrefix(name, "&") && fr.unit.isGo { // Go's name of what it moved to the heap
		v.Name = name[1:]
		return v.deref()
	}
	return v
}

func (fr *Frame) location(e *dwarf.Entry, t *Type) Location {
	at := point{fr.pc, fr.views[0]}
	expr, err := fr.unit.expression(e, dwarf.AttrLocation, at)
	if err == nil && fr.views[1] != fr.views[0] {
		// Other statements are on the marker's line, one of which may assign it.
		var last []byte
		at.view = fr.views[1]
		if last, err = fr.unit.expression(e, dwarf.AttrLocation, at); err == nil && !bytes.Equal(expr, last) {
			return nowhere(errEither)
		}
	}
	if err != nil {
		return nowhere(unavailable("%w", err))
	}
	if expr != nil {
		l := fr.locate(expr)
		if err := fr.distrusted(e, t, &l); err != nil {
			return nowhere(err)
		}
		return l
	}
	switch c := fr.unit.attribute(e, dwarf.AttrConstValue).(type) {
	case int64:
		return Location{Kind: Value, Program: location.Program{{Op: location.Push, Arg: c}}, Text: "constant " + itoa(c)}
	case []byte:
		return Location{Kind: Implicit, Bytes: c, Text: "constant"}
	}
	if e.Val(dwarf.AttrLocation) == nil && e.Val(dwarf.AttrDeclaration) != nil {
		return nowhere(errors.New("it is defined in another file"))
	}
	return nowhere(ErrOptimized)
}

// InScope returns the variables and parameters that are in scope, those of inner blocks first,
// without those that they hide, and without those of the file.
func (fr *Frame) InScope() []Variable {
	var all []Variable
	seen := map[string]bool{}
	for s := fr.scope; s != nil; s = s.Parent {
		for _, e := range s.Variables {
			name := fr.unit.nameOf(e)
			plain := strings.TrimPrefix(name, "&")
			if name == "" || name[0] == '~' || seen[plain] || fr.below(e) { // Go's results without a name are ~r0, ~r1
				continue
			}
			seen[plain] = true
			all = append(all, fr.variable(e, name))
			if len(all) == maxInScope {
				return all
			}
		}
		if s == fr.scope.Function() {
			break // what surrounds an inlined function is not in its scope
		}
	}
	return all
}

// maxInScope bounds what InScope returns.
const maxInScope = 1024

// below reports whether a variable is declared below the line.
func (fr *Frame) below(e *dwarf.Entry) bool {
	line, ok := fr.unit.attribute(e, dwarf.AttrDeclLine).(int64)
	return ok && fr.line > 0 && line > fr.line
}

// find returns a variable by its name: the innermost that is in scope, else one of the file.
func (fr *Frame) find(name string) (Variable, bool) {
	for s := fr.scope; s != nil; s = s.Parent {
		// Of several in one block the last declared is the one in Go, where none hides another.
		for _, e := range s.Variables {
			if n := fr.unit.nameOf(e); (n == name || n == "&"+name) && !fr.below(e) {
				return fr.variable(e, n), true
			}
		}
		if s == fr.scope.Function() {
			if origin, ok := s.Entry.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				if v, ok := fr.dropped(origin, name); ok {
					return v, true
				}
			}
			break
		}
	}
	return fr.global(name)
}

// dropped returns a variable of a function of which the compiler left no trace in an instance.
func (fr *Frame) dropped(function dwarf.Offset, name string) (Variable, bool) {
	e, err := fr.unit.entryAt(function)
	if err != nil {
		return Variable{}, false
	}
	v, found := Variable{Name: name, Location: nowhere(ErrOptimized)}, false
	_ = fr.unit.children(e, func(c *dwarf.Entry) bool {
		found = (c.Tag == dwarf.TagVariable || c.Tag == dwarf.TagFormalParameter) && fr.unit.nameOf(c) == name
		if at, ok := c.Val(dwarf.AttrType).(dwarf.Offset); found && ok {
			v.Type, _ = fr.unit.typeOf(at)
		}
		return !found
	})
	return v, found
}

// global looks for a variable of the file, or of a namespace in it. After optimization at link time the unit has those of several
// files, which can have the same name.
func (fr *Frame) global(name string) (Variable, bool) {
	source := fr.file.OriginUnit(fr.scope.Function().Entry, dwarf.AttrName)
	if source == nil || source.First == fr.unit.First {
		source = fr.unit.Unit
	}
	declared := fr.unit.globalOf(source.First, name, func(*dwarf.Entry) bool { return true })
	if declared == nil {
		return Variable{}, false
	}
	if source.First == fr.unit.First {
		return fr.variable(declared, name), true
	}
	external, _ := fr.unit.attribute(declared, dwarf.AttrExternal).(bool)
	instance := fr.unit.globalOf(fr.unit.First, name, func(e *dwarf.Entry) bool {
		from := fr.file.OriginUnit(e, dwarf.AttrName)
		other, _ := fr.unit.attribute(e, dwarf.AttrExternal).(bool)
		return from != nil && from.First == source.First || external && other
	})
	if instance == nil {
		instance = declared
	}
	return fr.variable(instance, name), true
}

// globalOf returns the entry of a variable below the first one of a unit, one with a location if there is such.
func (u *unitInfo) globalOf(unit dwarf.Offset, name string, is func(*dwarf.Entry) bool) (found *dwarf.Entry) {
	e, err := u.entryAt(unit)
	if err != nil {
		return nil
	}
	visit := func(c *dwarf.Entry) bool {
		if c.Tag != dwarf.TagVariable {
			return true
		}
		n := u.nameOf(c)
		if n == name || u.isGo && strings.HasSuffix(n, "."+name) && strings.LastIndexByte(n, '/') < len(n)-len(name)-1 {
			if (c.Val(dwarf.AttrLocation) != nil || found == nil) && is(c) {
				found = c
			}
		}
		return found == nil || found.Val(dwarf.AttrLocation) == nil
	}
	if err := u.children(e, visit); err != nil {
		return nil
	}
	return found
}

// Lookup returns the variable that an expression names: x, x.y, x->y, x[3], *x, with a $ before
// it or a cast to a pointer, and any of these behind each other.
func (fr *Frame) Lookup(expr string) Variable {
	p := parser{rest: expr}
	v := p.parse(fr)
	if p.err != nil {
		v = Variable{Location: nowhere(p.err)}
	}
	v.Name = strings.TrimPrefix(strings.TrimSpace(expr), "$")
	return v
}

// ErrNoVariable is the error of names that nothing has where they are asked for.
var ErrNoVariable = errors.New("no variable in scope has this name")

func noVariable(name string) error { return fmt.Errorf("%s: %w", name, ErrNoVariable) }
