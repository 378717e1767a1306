package ctf

import "fmt"

// maxMembers bounds the fields of one struct and the labels of one enum.
const maxMembers = 1 << 16

// members reads the fields between braces.
func (p *parser) members() ([]Field, error) {
	if err := p.expect("{"); err != nil {
		return nil, err
	}
	p.types = &typeScope{up: p.types}
	defer func() { p.types = p.types.up }()
	var fields []Field
	seen := map[string]bool{}
	for {
		if ok, err := p.accept("}"); ok || err != nil {
			return fields, err
		}
		if done, err := p.typeDeclaration(); err != nil {
			return nil, err
		} else if done {
			continue
		}
		err := p.declarators(func(f Field) error {
			switch {
			case seen[f.raw]:
				return fmt.Errorf("a second field %.80q", f.raw)
			case len(fields) == maxMembers:
				return fmt.Errorf("more than %d fields", maxMembers)
			}
			seen[f.raw] = true
			fields = append(fields, f)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
}

// tagged reads the optional name after struct, enum or variant.
func (p *parser) tagged(kind string) (string, error) {
	if p.tok.kind != wordToken {
		return "", nil
	}
	w, err := p.word()
	return kind + " " + w, err
}

func (p *parser) structure() (Type, error) {
	name, err := p.tagged("struct")
	if err != nil {
		return nil, err
	}
	if !p.is("{") {
		return p.known(name)
	}
	t := &Struct{}
	if t.Fields, err = p.members(); err != nil {
		return nil, err
	}
	if ok, err := p.accept("align"); err != nil {
		return nil, err
	} else if ok {
		if err := p.expect("("); err != nil {
			return nil, err
		}
		a := attribute{path: "align"}
		if err := p.value(&a); err != nil {
			return nil, err
		}
		if t.Align, err = align(&a); err != nil {
			return nil, err
		}
		if err := p.expect(")"); err != nil {
			return nil, err
		}
	}
	return t, p.name(name, t)
}

// known returns a struct, enum or variant that was declared before.
func (p *parser) known(name string) (Type, error) {
	t := p.types.find(name)
	if t == nil {
		return nil, fmt.Errorf("there is no %.80s", name)
	}
	return t, nil
}

func (p *parser) name(name string, t Type) error {
	if name == "" {
		return nil
	}
	return p.types.add(name, t)
}

// variant reads one with a tag, or declares one whose tag is to follow with its name.
func (p *parser) variant() (Type, error) {
	name, err := p.tagged("variant")
	if err != nil {
		return nil, err
	}
	t := &Variant{}
	if ok, err := p.accept("<"); err != nil {
		return nil, err
	} else if ok {
		if t.Tag, err = p.path(); err != nil {
			return nil, err
		}
		if err := p.expect(">"); err != nil {
			return nil, err
		}
	}
	if p.is("{") {
		if t.Options, err = p.members(); err != nil {
			return nil, err
		}
		return t, p.name(name, t)
	}
	declared, err := p.known(name)
	if v, ok := declared.(*Variant); ok {
		t.Options = v.Options
	}
	return t, err
}

func (p *parser) enum() (Type, error) {
	name, err := p.tagged("enum")
	if err != nil {
		return nil, err
	}
	container := p.types.find("int")
	if ok, err := p.accept(":"); err != nil {
		return nil, err
	} else if ok {
		if container, err = p.specifier(); err != nil {
			return nil, err
		}
	} else if !p.is("{") {
		return p.known(name)
	}
	integer, ok := container.(*Integer)
	if !ok {
		return nil, fmt.Errorf("an enum of no integer")
	}
	t := &Enum{Integer: *integer}
	if err := p.labels(t); err != nil {
		return nil, err
	}
	return t, p.name(name, t)
}

func (p *parser) labels(t *Enum) error {
	if err := p.expect("{"); err != nil {
		return err
	}
	next := uint64(0)
	for {
		if ok, err := p.accept("}"); ok || err != nil {
			return err
		}
		if p.tok.kind != wordToken && p.tok.kind != stringToken {
			return fmt.Errorf("%v where a label should be", &p.tok)
		}
		l := Label{Name: p.tok.text, Low: next, High: next}
		err := p.advance()
		if err == nil && p.is("=") {
			err = p.bounds(&l)
		}
		if err != nil {
			return err
		}
		if !l.holds(l.Low, t.Signed) || !l.holds(l.High, t.Signed) {
			return fmt.Errorf("label %.80q ends before it begins", l.Name)
		}
		if len(t.Labels) == maxMembers {
			return fmt.Errorf("more than %d labels", maxMembers)
		}
		t.Labels = append(t.Labels, l)
		next = l.High + 1
		if ok, err := p.accept(","); err != nil {
			return err
		} else if !ok && !p.is("}") {
			return fmt.Errorf("%v where a comma should be", &p.tok)
		}
	}
}

// bounds reads the values of a label: one, or two with "..." between them.
func (p *parser) bounds(l *Label) error {
	if err := p.advance(); err != nil {
		return err
	}
	low, err := p.bound()
	if err != nil {
		return err
	}
	l.Low, l.High = low, low
	if ok, err := p.accept("..."); err != nil || !ok {
		return err
	}
	l.High, err = p.bound()
	return err
}

func (p *parser) bound() (uint64, error) {
	a := attribute{path: "label's value"}
	if err := p.value(&a); err != nil {
		return 0, err
	}
	if a.neg {
		n, err := a.signed()
		return uint64(n), err
	}
	return a.number()
}
