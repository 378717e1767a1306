package ctf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// typeScope is the names of types between two braces, and those around it.
type typeScope struct {
	up    *typeScope
	names map[string]Type // "uint8_t", "unsigned long", "struct x", "enum x", "variant x"
}

func (s *typeScope) find(name string) Type {
	for ; s != nil; s = s.up {
		if t := s.names[name]; t != nil {
			return t
		}
	}
	return nil
}

func (s *typeScope) add(name string, t Type) error {
	if s.names[name] != nil {
		return fmt.Errorf("a second type %.80q", name)
	}
	if s.names == nil {
		s.names = map[string]Type{}
	}
	s.names[name] = t
	return nil
}

// typeWords make names of types of several words.
var typeWords = []string{
	"char", "short", "int", "long", "float", "double", "signed", "unsigned", "void", "_Bool", "_Complex", "_Imaginary", "const",
}

// typeDeclaration reads a typealias or a typedef, if one is there.
func (p *parser) typeDeclaration() (bool, error) {
	switch {
	case p.is("typealias"):
		return true, p.typealias()
	case p.is("typedef"):
		err := p.advance()
		if err != nil {
			return true, err
		}
		return true, p.declarators(func(f Field) error { return p.types.add(f.raw, f.Type) })
	}
	return false, nil
}

func (p *parser) typealias() error {
	if err := p.advance(); err != nil {
		return err
	}
	t, err := p.specifier()
	if err == nil {
		t, err = p.suffixes(t)
	}
	if err == nil {
		err = p.expect(":=")
	}
	var words []string
	for err == nil && (p.tok.kind == wordToken || p.is("*")) && len(words) < maxNesting {
		words = append(words, p.tok.text)
		err = p.advance()
	}
	if err == nil && len(words) == 0 {
		err = fmt.Errorf("%v where a name should be", &p.tok)
	}
	if err == nil {
		err = p.types.add(typeName(words), t)
	}
	if err == nil {
		err = p.expect(";")
	}
	return err
}

func typeName(words []string) string { return strings.Join(words, " ") }

// declarators reads a type and names of it, up to the semicolon.
func (p *parser) declarators(fn func(Field) error) error {
	base, name, err := p.named()
	if err != nil {
		return err
	}
	for {
		t, words := base, name
		for p.is("*") { // a pointer is a type if an alias defines it
			words = append(words[:len(words):len(words)], "*")
			if err := p.advance(); err != nil {
				return err
			}
			for p.is("const") {
				if err := p.advance(); err != nil {
					return err
				}
			}
			if t = p.types.find(typeName(words)); t == nil {
				return fmt.Errorf("there is no type %.80q", typeName(words))
			}
		}
		raw, err := p.word()
		if err != nil {
			return err
		}
		if t, err = p.suffixes(t); err != nil {
			return err
		}
		if t == nil {
			return fmt.Errorf("there is no type %.80q", typeName(name))
		}
		if err := fn(Field{Name: strings.TrimPrefix(raw, "_"), Type: t, raw: raw}); err != nil {
			return err
		}
		if ok, err := p.accept(","); err != nil {
			return err
		} else if !ok {
			return p.expect(";")
		}
	}
}

// suffixes reads the numbers of elements after a name, the outermost array's first.
func (p *parser) suffixes(elem Type) (Type, error) {
	type size struct {
		n    int
		path string
	}
	var sizes []size
	for p.is("[") {
		if len(sizes) == maxNesting {
			return nil, fmt.Errorf("more than %d dimensions", maxNesting)
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
		a := attribute{path: "array's size"}
		if err := p.value(&a); err != nil {
			return nil, err
		}
		s := size{path: a.text}
		if a.kind == numberToken {
			var err error
			if s.n, err = a.small(); err != nil {
				return nil, err
			}
			s.path = ""
		}
		sizes = append(sizes, s)
		if err := p.expect("]"); err != nil {
			return nil, err
		}
	}
	for _, s := range slices.Backward(sizes) {
		if s.path != "" {
			elem = &Sequence{Length: s.path, Elem: elem}
		} else {
			elem = &Array{Len: s.n, Elem: elem}
		}
	}
	return elem, nil
}

// specifier reads a type without its declarator.
func (p *parser) specifier() (Type, error) {
	t, name, err := p.named()
	for err == nil && p.is("*") {
		name = append(name, "*")
		t = p.types.find(typeName(name))
		err = p.advance()
	}
	if err == nil && t == nil {
		err = fmt.Errorf("there is no type %.80q", typeName(name))
	}
	return t, err
}

// named reads a type and returns its name when it is one of words; the type is nil if there is none
// of that name, to which a pointer may still be.
func (p *parser) named() (Type, []string, error) {
	if p.nesting++; p.nesting > maxNesting {
		return nil, nil, fmt.Errorf("types are nested deeper than %d", maxNesting)
	}
	defer func() { p.nesting-- }()
	var words []string
	for p.tok.kind == wordToken && slices.Contains(typeWords, p.tok.text) && len(words) < maxNesting {
		words = append(words, p.tok.text)
		if err := p.advance(); err != nil {
			return nil, nil, err
		}
	}
	if len(words) > 0 && !slices.Equal(words, []string{"const"}) {
		return p.find(words), words, nil
	}
	w, err := p.word()
	if err != nil {
		return nil, nil, err
	}
	var t Type
	switch w {
	case "integer":
		t, err = p.integer()
	case "floating_point":
		t, err = p.float()
	case "string":
		t = &String{}
		if p.is("{") {
			err = p.attributes(func(*attribute) error { return nil })
		}
	case "struct":
		t, err = p.structure()
	case "variant":
		t, err = p.variant()
	case "enum":
		t, err = p.enum()
	default:
		words = append(words, w)
		return p.find(words), words, nil
	}
	return t, []string{w}, err
}

// find finds a type by name, with const or without.
func (p *parser) find(words []string) Type {
	if t := p.types.find(typeName(words)); t != nil {
		return t
	}
	return p.types.find(typeName(slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "const" })))
}

var bases = map[string]int{
	"decimal": 10, "dec": 10, "d": 10, "i": 10, "u": 10, "hexadecimal": 16, "hex": 16, "x": 16, "X": 16, "p": 16,
	"octal": 8, "oct": 8, "o": 8, "binary": 2, "b": 2,
}

func (p *parser) integer() (Type, error) {
	t := &Integer{}
	err := p.attributes(func(a *attribute) (err error) {
		switch a.path {
		case "size":
			t.Size, err = a.small()
		case "align":
			t.Align, err = align(a)
		case "signed":
			t.Signed, err = boolean(a)
		case "byte_order":
			t.Order, err = byteOrder(a)
		case "base":
			if t.Base = bases[a.text]; a.kind == numberToken {
				t.Base, err = a.small()
			}
		case "encoding":
			t.UTF8 = a.text == "UTF8" || a.text == "utf8" || a.text == "utf-8" || a.text == "UTF-8" || a.text == "ASCII" || a.text == "ascii"
		case "map":
			path := strings.Split(a.text, ".")
			if len(path) != 3 || path[0] != "clock" || path[2] != "value" {
				return fmt.Errorf("map %.80q is no clock's value", a.text)
			}
			t.Clock = path[1]
		}
		return err
	})
	return t, err
}

// align reads an alignment, where 0 would mean none is given.
func align(a *attribute) (int, error) {
	n, err := a.small()
	if err == nil && n == 0 {
		err = errors.New("alignment of 0 bits")
	}
	return n, err
}

func (p *parser) float() (Type, error) {
	t := &Float{}
	err := p.attributes(func(a *attribute) (err error) {
		n := 0
		switch a.path {
		case "exp_dig", "mant_dig":
			n, err = a.small()
			t.Size += n
		case "align":
			t.Align, err = align(a)
		case "byte_order":
			t.Order, err = byteOrder(a)
		}
		return err
	})
	return t, err
}
