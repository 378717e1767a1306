package variable

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// parser reads an expression that names a variable or a part of one.
type parser struct {
	rest string
	err  error
}

// maxParts bounds the parts of an expression.
const maxParts = 16

var errExpression = errors.New("an expression that only the program itself computes")

func (p *parser) parse(fr *Frame) (v Variable) {
	derefs, cast := 0, ""
	for p.err == nil {
		p.rest = strings.TrimSpace(p.rest)
		switch {
		case strings.HasPrefix(p.rest, "*") && derefs < maxParts:
			derefs++
			p.rest = p.rest[1:]
			continue
		case strings.HasPrefix(p.rest, "(") && cast == "" && derefs == 0:
			end := strings.IndexByte(p.rest, ')')
			if end < 0 || !strings.HasSuffix(p.rest[:end], "*") {
				p.err = errExpression
				return v
			}
			cast, p.rest = strings.TrimSpace(p.rest[1:end]), p.rest[end+1:]
			continue
		}
		break
	}
	p.rest = strings.TrimPrefix(p.rest, "$")
	name := p.word()
	if name == "" {
		p.err = errExpression
		return v
	}
	found := false
	if v, found = fr.find(name); !found {
		if v, found = fr.throughThis(name); !found {
			p.err = noVariable(name)
			return v
		}
	}
	v = v.referred()
	for range maxParts {
		if p.rest = strings.TrimSpace(p.rest); p.rest == "" || p.err != nil {
			break
		}
		v = p.part(v)
	}
	if p.rest != "" && p.err == nil {
		p.err = errExpression
	}
	for range derefs {
		v = v.deref()
	}
	if cast != "" && v.Err == nil {
		if v.Type == nil || v.Type.Class != Pointer {
			p.err = errExpression
			return v
		}
		v.Type = &Type{Name: cast, Class: Pointer, Size: 8, unit: v.Type.unit}
	}
	return v
}

// word takes an identifier.
func (p *parser) word() string {
	n := 0
	for n < len(p.rest) {
		c := p.rest[n]
		if c == '_' || c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z' || n > 0 && '0' <= c && c <= '9' {
			n++
			continue
		}
		break
	}
	w := p.rest[:n]
	p.rest = p.rest[n:]
	return w
}

// part applies the next of .name, ->name and [number].
func (p *parser) part(v Variable) Variable {
	switch {
	case strings.HasPrefix(p.rest, "."):
		p.rest = p.rest[1:]
	case strings.HasPrefix(p.rest, "->"):
		p.rest = p.rest[2:]
	case strings.HasPrefix(p.rest, "["):
		end := strings.IndexByte(p.rest, ']')
		if end < 0 {
			p.err = errExpression
			return v
		}
		n, err := strconv.ParseInt(strings.TrimSpace(p.rest[1:end]), 0, 32)
		if err != nil || n < 0 {
			p.err = errExpression
			return v
		}
		p.rest = p.rest[end+1:]
		return v.index(n)
	default:
		p.err = errExpression
		return v
	}
	p.rest = strings.TrimSpace(p.rest)
	name := p.word()
	if name == "" {
		p.err = errExpression
		return v
	}
	m := v.Member(name)
	if errors.Is(m.Err, ErrNoVariable) {
		p.err = m.Err
	}
	return m
}

// fail returns a variable without a location.
func (v Variable) fail(err error) Variable {
	v.Location = nowhere(err)
	return v
}

// deref returns what a pointer points to.
func (v Variable) deref() Variable {
	if v.Type == nil {
		return v
	}
	if v.Type.Class != Pointer {
		return v.fail(fmt.Errorf("%s is no pointer: %w", v.Type.Name, errExpression))
	}
	to, err := v.Type.Elem()
	if err != nil {
		return v.fail(err)
	}
	address, err := v.Number(8)
	if v.Type = to; err != nil {
		return v.fail(err)
	}
	v.Location = Location{Kind: Memory, Program: address, Text: "where it points to, from " + v.Text}
	return v
}

// referred returns what a reference of C++ is one of.
func (v Variable) referred() Variable {
	if v.Type != nil && v.Type.Class == Pointer && strings.HasSuffix(v.Type.Name, "&") {
		return v.deref()
	}
	return v
}

// Member returns a member of a structure, or of the one that a pointer points to.
func (v Variable) Member(name string) Variable {
	if v.Type != nil && v.Type.Class == Pointer {
		v = v.deref()
	}
	if v.Type == nil {
		return v
	}
	return v.member(name, maxTypeDepth).referred()
}

func (v Variable) member(name string, depth int) Variable {
	missing := v.fail(noVariable(v.Type.Name + "." + name))
	if depth == 0 || v.Type.Class != Struct && v.Type.Class != GoString && v.Type.Class != GoSlice {
		return missing
	}
	members, err := v.Type.Members()
	if err != nil {
		return v.fail(err)
	}
	for i := range members {
		if members[i].Name == name {
			return v.at(&members[i])
		}
	}
	for i := range members { // those of unnamed members, and of what is embedded
		if m := &members[i]; m.Name == "" || m.Embedded {
			inner := v.at(m)
			if inner.Type != nil && inner.Type.Class == Pointer && m.Embedded {
				inner = inner.deref()
			}
			if inner.Type == nil {
				continue
			}
			if found := inner.member(name, depth/2); !errors.Is(found.Err, ErrNoVariable) {
				return found
			}
		}
	}
	return missing
}

// at returns a member.
func (v Variable) at(m *Member) Variable {
	t, err := v.Type.memberType(m)
	if err != nil {
		return v.fail(err)
	}
	if v.Type = t; v.Kind == None {
		return v
	}
	if m.Bits == 0 {
		v.Location = v.Part(m.Offset, t.Size)
		return v
	}
	return v.bits(m)
}

// bits returns a bit field as a computed number: the bytes that have it, shifted.
func (v Variable) bits(m *Member) Variable {
	first, last := m.BitsAt/8, (m.BitsAt+m.Bits-1)/8
	size := int64(1)
	for size < last-first+1 {
		size *= 2
	}
	if size > 8 {
		return v.fail(unavailable("a bit field that takes nine bytes"))
	}
	part := v.Part(first, size)
	p, err := part.Number(size)
	if err != nil {
		return v.fail(err)
	}
	right := location.Shr
	if v.Type.Class == Signed || v.Type.Signed {
		right = location.Sar
	}
	low := m.BitsAt - 8*first
	p = p.With(location.Step{Op: location.Push, Arg: 64 - low - m.Bits}, location.Step{Op: location.Shl},
		location.Step{Op: location.Push, Arg: 64 - m.Bits}, location.Step{Op: right})
	v.Location = Location{Kind: Value, Program: p, Text: fmt.Sprintf("%d bits of %s", m.Bits, part.Text)}
	return v
}

// index returns an element of an array, of a slice, or of what a pointer points to.
func (v Variable) index(n int64) Variable {
	if v.Type == nil {
		return v
	}
	of, err := v.Type.Elem()
	if err != nil {
		return v.fail(err)
	}
	if of.Size <= 0 || n > 1<<40/of.Size {
		return v.fail(errType)
	}
	at := n * of.Size
	switch v.Type.Class {
	case Array:
		if n >= v.Type.Count {
			return v.fail(fmt.Errorf("element %d of %s: %w", n, v.Type.Name, errOutside))
		}
		v.Location = v.Part(at, of.Size)
	case Pointer:
		v = v.deref()
		v.Location = v.Part(at, of.Size)
	case GoSlice:
		array, length := v.Part(0, 8), v.Part(8, 8)
		p, err := array.Number(8)
		l, err2 := length.Number(8)
		if err = errors.Join(err, err2); err != nil {
			return v.fail(err)
		}
		// Behind the end there is address 0, which cannot be read.
		inside := location.Program{{Op: location.Push, Arg: n}}.Join(l, location.Less)
		v.Location = Location{Kind: Memory, Program: p.Plus(at).Join(inside, location.Mul), Text: "element, from " + v.Text}
	default:
		return v.fail(fmt.Errorf("%s has no elements: %w", v.Type.Name, errExpression))
	}
	v.Type = of
	return v
}

var errOutside = errors.New("there is no such element")

// throughThis finds a member of C++'s this, which needs not be written.
func (fr *Frame) throughThis(name string) (Variable, bool) {
	this, ok := fr.find("this")
	if !ok || this.Type == nil {
		return Variable{}, false
	}
	v := this.Member(name)
	return v, !errors.Is(v.Err, ErrNoVariable)
}
