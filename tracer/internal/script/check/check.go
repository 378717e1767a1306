package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// Target describes where a script is going to run.
type Target struct {
	// Points are the points that probes can match.
	Points []*event.Point
	// Open is set if there is no target: probes match anything, and fields have any type.
	Open bool
	// Has reports whether events of a point have a pid, tid, comm, cpu or goroutine. Nil means that they have all.
	Has func(p *event.Point, name string) bool
	// Args are the arguments of the script.
	Args []string
	// Unsafe permits system().
	Unsafe bool
}

// Warning is a remark about a script that can run nevertheless.
type Warning = syntax.Error

// maxErrors is the number of mistakes after which the checker stops.
const maxErrors = 10

// maxWork bounds the expressions of a program: an action block is checked for each set of fields that its points have.
const maxWork = 1 << 20

// maxPasses bounds the inference of types. Every pass widens at least one type, and types have few widths.
const maxPasses = 64

// checker has the state of a script.
type checker struct {
	script *syntax.Script
	target *Target
	config ir.Config
	args   arguments

	maps    map[string]*ir.Map
	sized   map[string]int
	locals  map[localKey]ir.Type
	changed bool // a type was widened in this pass
	work    int  // expressions checked in this pass
	final   bool // mistakes are reported

	errors   []error
	warnings []*Warning
	seen     map[string]bool // messages that were reported
}

// localKey identifies a variable: the code that it is in and where it is declared.
type localKey struct {
	code string
	at   int
}

// Check returns the program of a script, or the mistakes in it.
func Check(s *syntax.Script, t *Target) (*ir.Program, []*Warning, error) {
	c := &checker{
		script: s, target: t, config: ir.DefaultConfig(), args: parseArguments(t.Args),
		maps: map[string]*ir.Map{}, sized: map[string]int{}, locals: map[localKey]ir.Type{}, seen: map[string]bool{},
	}
	c.final = true
	c.settings()
	c.declarations()
	probes := c.expand()
	c.final = false
	for pass := 0; len(c.errors) == 0; pass++ {
		c.changed = false
		codes := c.pass(probes)
		if c.final {
			if c.changed && len(c.errors) == 0 {
				c.fail(c.script.Blocks[0].Span, "cast some of the values", "the types of maps and variables depend on each other in more than %d steps", maxPasses)
			}
			c.finish(probes)
			if len(c.errors) > 0 {
				break
			}
			return c.program(probes, codes), c.warnings, nil
		}
		if c.final = !c.changed; pass > maxPasses {
			c.final = true
		}
	}
	return nil, c.warnings, errors.Join(c.errors...)
}

// pass checks all action blocks once.
func (c *checker) pass(probes []*bound) map[*bound]*ir.Code {
	c.work = 0
	codes := map[*bound]*ir.Code{}
	shared := map[string]*ir.Code{}
	for _, p := range probes {
		if c.work > maxWork {
			c.final = true
			c.fail(p.block.Span, "use fewer wildcards, or shorter action blocks", "the script is too large for the points that its probes match")
		}
		if len(c.errors) >= maxErrors || c.work > maxWork {
			break
		}
		key := fmt.Sprintf("%d %s", p.block.Begin, p.signature)
		if shared[key] == nil {
			shared[key] = c.code(p, key)
		}
		codes[p] = shared[key]
	}
	return codes
}

func (c *checker) program(probes []*bound, codes map[*bound]*ir.Code) *ir.Program {
	p := &ir.Program{Config: c.config}
	for _, b := range probes {
		b.Probe.Code = codes[b]
		p.Probes = append(p.Probes, &b.Probe)
	}
	for _, m := range c.maps {
		p.Maps = append(p.Maps, m)
	}
	slices.SortFunc(p.Maps, func(a, b *ir.Map) int { return strings.Compare(a.Name, b.Name) })
	for i, m := range p.Maps {
		m.Index = i
	}
	return p
}

// finish reports what only the last pass can know.
func (c *checker) finish(probes []*bound) {
	for _, d := range c.script.Maps {
		if m := c.maps[d.Name]; m == nil || m.Value.Base == ir.Unknown && !c.target.Open {
			c.fail(d.Span, "delete the declaration", "map %s is declared and not used", d.Name)
		}
	}
	for name := range c.args.named {
		if !c.args.used[name] {
			c.fail(syntax.Span{}, "the script reads them with getopt", "the script has no parameter --%s", name)
		}
	}
}

// fail reports a mistake.
func (c *checker) fail(s syntax.Span, hint, format string, args ...any) {
	if !c.final || len(c.errors) >= maxErrors {
		return
	}
	e := &syntax.Error{File: c.script.File, Span: s, Text: fmt.Sprintf(format, args...), Hint: hint}
	if text := e.Error(); !c.seen[text] { // the same block is checked for several points
		c.seen[text] = true
		c.errors = append(c.errors, e)
	}
}

// warn reports a remark.
func (c *checker) warn(s syntax.Span, hint, format string, args ...any) {
	if !c.final {
		return
	}
	e := &Warning{File: c.script.File, Span: s, Text: fmt.Sprintf(format, args...), Hint: hint}
	if text := e.Error(); !c.seen[text] {
		c.seen[text] = true
		c.warnings = append(c.warnings, e)
	}
}

// widen returns the type that holds t and u, and notes if that is another one than t.
func (c *checker) widen(t, u ir.Type) (ir.Type, bool) {
	w, ok := ir.Promote(t, u)
	if ok && (!w.Equal(t) || w.Literal != t.Literal) {
		c.changed = true
	}
	return w, ok
}

// mapOf returns the map with a name.
func (c *checker) mapOf(name string) *ir.Map {
	m := c.maps[name]
	if m == nil {
		m = &ir.Map{Name: name, MaxKeys: c.config.MaxMapKeys}
		if n := c.sized[name]; n > 0 {
			m.MaxKeys = n
		}
		c.maps[name] = m
		c.changed = true
	}
	return m
}
