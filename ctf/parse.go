package ctf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// parser reads metadata: declarations, one after another. It keeps those before a mistake.
type parser struct {
	lexer
	tok     token
	trace   *Trace
	order   ByteOrder
	header  *Struct // of packets
	events  []declared
	types   *typeScope
	nesting int
}

// parseMetadata reads the text of metadata. The trace has everything that was declared before the error.
func parseMetadata(src string) (*Trace, error) {
	p := &parser{lexer: lexer{src: src}, trace: &Trace{}, order: LittleEndian, types: &typeScope{}}
	err := p.advance()
	for err == nil && p.tok.kind != endToken {
		err = p.declaration()
	}
	if err != nil {
		line := 1 + strings.Count(src[:min(p.tok.at, len(src))], "\n")
		err = &Error{"metadata", int64(p.tok.at), fmt.Errorf("line %d: %w", line, err)}
	}
	return p.trace, errors.Join(err, p.finish())
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

// is reports whether the token is a mark or a word.
func (p *parser) is(text string) bool {
	return (p.tok.kind == markToken || p.tok.kind == wordToken) && p.tok.text == text
}

// accept skips a mark or word if it is there.
func (p *parser) accept(text string) (bool, error) {
	if !p.is(text) {
		return false, nil
	}
	return true, p.advance()
}

func (p *parser) expect(text string) error {
	ok, err := p.accept(text)
	if err == nil && !ok {
		err = fmt.Errorf("%v where %q should be", &p.tok, text)
	}
	return err
}

func (p *parser) word() (string, error) {
	if p.tok.kind != wordToken {
		return "", fmt.Errorf("%v where a name should be", &p.tok)
	}
	w := p.tok.text
	return w, p.advance()
}

// blocks are the declarations with braces.
var blocks = []string{"trace", "stream", "event", "env", "clock", "callsite"}

func (p *parser) declaration() error {
	if slices.Contains(blocks, p.tok.text) && p.tok.kind == wordToken {
		return p.block(p.tok.text)
	}
	if ok, err := p.accept(";"); ok || err != nil {
		return err
	}
	done, err := p.typeDeclaration()
	if err == nil && !done {
		_, err = p.specifier() // of a struct, enum or variant with a name
		if err == nil {
			err = p.expect(";")
		}
	}
	return err
}

// attribute is a line of a block: a path and a value or a type.
type attribute struct {
	path string
	at   token
	text string // of a string, or a path
	bits uint64
	kind tokenKind // of the value; 0 for types
	neg  bool
	typ  Type
}

func (a *attribute) number() (uint64, error) {
	if a.kind != numberToken || a.neg {
		return 0, fmt.Errorf("%s is no number that is not negative", a.path)
	}
	return a.bits, nil
}

func (a *attribute) small() (int, error) {
	n, err := a.number()
	if err == nil && n > maxArray {
		err = fmt.Errorf("%s is %d", a.path, n)
	}
	return int(n), err
}

func (a *attribute) signed() (int64, error) {
	switch {
	case a.kind != numberToken:
		return 0, fmt.Errorf("%s is no number", a.path)
	case a.neg && a.bits <= 1<<63:
		return -int64(a.bits), nil
	case a.neg || a.bits >= 1<<63:
		return 0, fmt.Errorf("%s does not fit in 64 bits", a.path)
	}
	return int64(a.bits), nil
}

func (a *attribute) word() (string, error) {
	if a.kind != wordToken && a.kind != stringToken {
		return "", fmt.Errorf("%s is no text", a.path)
	}
	return a.text, nil
}

func (a *attribute) uuid() (UUID, error) {
	s, err := a.word()
	if err != nil {
		return UUID{}, err
	}
	u, err := ParseUUID(s)
	if err != nil {
		err = fmt.Errorf("%s %.60q: %w", a.path, s, err)
	}
	return u, err
}

// attributes reads the lines between braces, and calls fn for each.
func (p *parser) attributes(fn func(*attribute) error) error {
	if err := p.expect("{"); err != nil {
		return err
	}
	p.types = &typeScope{up: p.types}
	defer func() { p.types = p.types.up }()
	for {
		if ok, err := p.accept("}"); ok || err != nil {
			return err
		}
		if done, err := p.typeDeclaration(); err != nil {
			return err
		} else if done {
			continue
		}
		a, err := p.attribute()
		if err == nil {
			err = fn(a)
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) attribute() (*attribute, error) {
	a := &attribute{at: p.tok}
	var err error
	if a.path, err = p.path(); err != nil {
		return nil, err
	}
	switch {
	case p.is(":="):
		if err = p.advance(); err == nil {
			a.typ, err = p.specifier()
		}
	case p.is("="):
		if err = p.advance(); err == nil {
			err = p.value(a)
		}
	default:
		err = fmt.Errorf("%v where = or := should be", &p.tok)
	}
	if err == nil {
		err = p.expect(";")
	}
	return a, err
}

// path reads words with dots between them, the first of which may be a text.
func (p *parser) path() (string, error) {
	if p.tok.kind == stringToken {
		s := p.tok.text
		return s, p.advance()
	}
	path, err := p.word()
	for err == nil && (p.is(".") || p.is("->")) {
		if err = p.advance(); err != nil {
			break
		}
		var w string
		if w, err = p.word(); err == nil {
			path += "." + w
		}
		if len(path) > maxPath {
			err = fmt.Errorf("path of more than %d bytes", maxPath)
		}
	}
	return path, err
}

const maxPath = 4096

func (p *parser) value(a *attribute) error {
	for p.is("-") || p.is("+") {
		a.neg = a.neg != p.is("-")
		if err := p.advance(); err != nil {
			return err
		}
	}
	a.kind, a.text, a.bits = p.tok.kind, p.tok.text, p.tok.bits
	switch {
	case a.kind == wordToken && !a.neg:
		var err error
		a.text, err = p.path()
		return err
	case a.kind == numberToken || a.kind == stringToken && !a.neg:
		return p.advance()
	}
	return fmt.Errorf("%v where a value should be", &p.tok)
}
