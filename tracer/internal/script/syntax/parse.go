package syntax

import (
	"slices"
	"strings"
)

// parser is a recursive-descent parser with one token in advance. It ends with a panic of *Error, which Parse recovers.
type parser struct {
	lexer
	tok       Token
	depth     int
	nodes     int
	probes    int
	predicate bool // a "/" before "{" ends the expression
}

// Parse returns the tree of a script, or an *Error.
func Parse(name, text string) (s *Script, err error) {
	p := &parser{lexer: lexer{file: NewFile(name, text)}}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *Error:
			s, err = nil, e
		default:
			panic(e)
		}
	}()
	if len(text) > MaxText {
		p.fail(Span{MaxText, MaxText}, "", "the script is longer than %d bytes", MaxText)
	}
	p.advance()
	return p.script(), nil
}

func (p *parser) advance() { p.tok = p.next() }

// is reports whether the current token is an operator or a keyword.
func (p *parser) is(text string) bool {
	return p.tok.Text == text && (p.tok.Kind == Punct || p.tok.Kind == Word)
}

// accept passes an operator or a keyword if it is the current token.
func (p *parser) accept(text string) bool {
	if !p.is(text) {
		return false
	}
	p.advance()
	return true
}

func (p *parser) expect(text, in string) Token {
	t := p.tok
	if !p.is(text) {
		p.unexpected("%q expected in %s", text, in)
	}
	p.advance()
	return t
}

// unexpected fails at the current token.
func (p *parser) unexpected(format string, args ...any) {
	found := p.tok.Text
	if p.tok.Kind != EOF {
		found = quoted(p.file.Text[p.tok.Begin:p.tok.End])
	}
	p.fail(p.tok.Span, "", "unexpected "+found+": "+format, args...)
}

func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strings.ReplaceAll(`"`+s+`"`, "%", "%%")
}

// enter counts a node and a level of nesting; the function that it returns leaves the level.
func (p *parser) enter() func() {
	p.depth++
	p.nodes++
	if p.depth > maxDepth {
		p.fail(p.tok.Span, "use variables for parts of it", "nested deeper than %d levels", maxDepth)
	}
	if p.nodes > maxNodes {
		p.fail(p.tok.Span, "split the script", "the script has more than %d expressions and statements", maxNodes)
	}
	return func() { p.depth-- }
}

func (p *parser) script() *Script {
	s := &Script{File: p.file}
	for p.tok.Kind != EOF {
		switch {
		case p.is("config") && len(s.Blocks) == 0 && len(s.Maps) == 0 && s.Config == nil:
			p.config(s)
		case p.is("let"):
			s.Maps = append(s.Maps, p.mapDecl())
		default:
			p.refuseTop()
			s.Blocks = append(s.Blocks, p.block())
		}
	}
	if len(s.Blocks) == 0 {
		p.fail(Span{0, 0}, "such as BEGIN { print(1) }", "the script has no probe")
	}
	return s
}

// refuseTop refuses what may begin a part of a bpftrace script and has no place here.
func (p *parser) refuseTop() {
	hint, ok := map[string]string{
		"#":       "fields have their types from the program; write numbers in place of macros",
		"struct":  "name the fields of a marker, as args.NAME, in place of a C type",
		"union":   "name the fields of a marker, as args.NAME, in place of a C type",
		"enum":    "write the numbers",
		"import":  "put everything into one file",
		"macro":   "write the statements where they are needed",
		"config":  "there is one config block, before all others",
		"subprog": "write the statements where they are needed",
		"fn":      "write the statements where they are needed",
	}[p.tok.Text]
	if ok && p.tok.Kind != Str {
		what := p.tok.Text
		if what == "#" {
			what = "C preprocessor directive"
		}
		p.fail(p.tok.Span, hint, "%s is not part of the language", what)
	}
}

func (p *parser) config(s *Script) {
	p.advance()
	p.expect("=", "the config block")
	p.expect("{", "the config block")
	s.Config = []*Setting{}
	for !p.accept("}") {
		t := p.tok
		if t.Kind != Word {
			p.unexpected("name of a setting expected")
		}
		p.advance()
		p.expect("=", "the config block")
		x := p.expr()
		s.Config = append(s.Config, &Setting{Span{t.Begin, x.End}, strings.TrimPrefix(strings.ToLower(t.Text), "bpftrace_"), x})
		if !p.accept(";") && !p.accept(",") && !p.is("}") {
			p.unexpected("; expected in the config block")
		}
	}
	p.accept(";")
}

// mapDecl parses "let @name = hash(N);".
func (p *parser) mapDecl() *MapDecl {
	d := &MapDecl{Span: p.tok.Span}
	p.advance()
	if d.Name = p.tok.Text; p.tok.Kind != Map {
		p.unexpected("a map expected, as in let @name = hash(100)")
	}
	p.advance()
	p.expect("=", "the declaration of a map")
	if d.Type = p.tok.Text; p.tok.Kind != Word {
		p.unexpected("a type of maps expected, such as hash(100)")
	}
	p.advance()
	p.expect("(", "the declaration of a map")
	if d.Size = p.tok.Value; p.tok.Kind != Int {
		p.unexpected("the number of keys expected")
	}
	d.End = p.tok.End
	p.advance()
	p.expect(")", "the declaration of a map")
	p.accept(";")
	return d
}

// block parses probes, a predicate and the statements.
func (p *parser) block() *Block {
	b := &Block{Span: p.tok.Span}
	for {
		b.Probes = append(b.Probes, p.probe())
		if !p.accept(",") {
			break
		}
	}
	if p.is("/") {
		p.predicate = true
		p.advance()
		b.Predicate = p.expr()
		p.predicate = false
		p.expect("/", "the predicate")
	}
	b.End = p.tok.End
	b.Body = p.statements("the action block")
	return b
}

// probe reads the text of a probe, which has other words than expressions: paths, wildcards and quotes.
func (p *parser) probe() *Probe {
	if p.tok.Kind != Word && p.tok.Text != "*" {
		p.unexpected("a probe expected, such as marker:http:request_start")
	}
	if p.probes++; p.probes > maxProbes {
		p.fail(p.tok.Span, "use wildcards", "the script has more than %d probes", maxProbes)
	}
	begin := p.tok.Begin
	text := p.file.Text
	var parts []string
	var part strings.Builder
	i := begin
scan:
	for i < len(text) {
		switch c := text[i]; {
		case c == '"':
			p.pos = i
			t := p.text()
			part.WriteString(t.Text)
			i = p.pos
			continue
		case strings.IndexByte(" \t\r\n,{", c) >= 0, strings.HasPrefix(text[i:], "//"), strings.HasPrefix(text[i:], "/*"):
			break scan
		case c == '/' && !inPath(parts, part.String()):
			break scan
		case c == ':':
			parts = append(parts, part.String())
			part.Reset()
		case c == '=' && parts == nil:
			p.fail(Span{begin, i}, "delete it", "name of a probe")
		default:
			part.WriteByte(c)
		}
		i++
	}
	parts = append(parts, part.String())
	p.pos = i
	p.advance()
	return &Probe{Span{begin, i}, parts[0], parts[1:]}
}

// inPath reports whether a slash belongs to the path of a file, which is the part after the provider.
func inPath(parts []string, part string) bool {
	return len(parts) == 1 && slices.Contains([]string{"usdt", "U", "uprobe", "u", "uretprobe", "ur"}, parts[0]) ||
		len(parts) > 0 && parts[0] == "marker" && part != "" // "marker:a/b:c" has a slash; a predicate follows a space
}
