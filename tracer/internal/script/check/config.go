package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/script/ir"
	"github.com/waymark-trace/waymark/tracer/internal/script/syntax"
)

// Limits of settings.
const (
	maxMapKeys = 1 << 24
	maxText    = 1 << 16
	maxProbes  = 1 << 16
)

// settings are the names of the config block.
var settings = map[string]func(*checker, *syntax.Setting){
	"max_map_keys":       func(c *checker, s *syntax.Setting) { c.config.MaxMapKeys = c.number(s, 1, maxMapKeys) },
	"max_strlen":         func(c *checker, s *syntax.Setting) { c.config.MaxText = c.number(s, 2, maxText) },
	"max_probes":         func(c *checker, s *syntax.Setting) { c.config.MaxProbes = c.number(s, 1, maxProbes) },
	"print_maps_on_exit": func(c *checker, s *syntax.Setting) { c.config.PrintMaps = c.truth(s) },
	"missing_probes":     func(c *checker, s *syntax.Setting) { c.config.MissingProbes = c.choice(s, "error", "warn", "ignore") },
	"str_trunc_trailer":  func(c *checker, s *syntax.Setting) { c.config.Trailer = c.literal(s) },
	"tid_is": func(c *checker, s *syntax.Setting) {
		c.config.GoroutineAsTID = c.choice(s, "thread", "goroutine") == "goroutine"
	},
	"unstable_tseries":  func(c *checker, s *syntax.Setting) { c.choice(s, "enable", "warn") },
	"unstable_map_decl": func(c *checker, s *syntax.Setting) { c.choice(s, "enable", "warn") },
}

// settings applies the config block.
func (c *checker) settings() {
	for _, s := range c.script.Config {
		apply, ok := settings[s.Name]
		if !ok {
			names := slices.Sorted(maps.Keys(settings))
			c.fail(s.Span, "delete it; there is "+strings.Join(names, ", "), "setting %s is not part of the language", s.Name)
			continue
		}
		apply(c, s)
	}
}

func (c *checker) number(s *syntax.Setting, low, high uint64) int {
	if s.X.Kind != syntax.IntExpr || s.X.Value < low || s.X.Value > high {
		c.fail(s.X.Span, "", "%s is a number from %d to %d", s.Name, low, high)
		return int(low)
	}
	return int(s.X.Value)
}

func (c *checker) truth(s *syntax.Setting) bool {
	if s.X.Kind != syntax.BoolExpr && s.X.Kind != syntax.IntExpr {
		c.fail(s.X.Span, "", "%s is true or false", s.Name)
	}
	return s.X.Value != 0
}

func (c *checker) literal(s *syntax.Setting) string {
	if s.X.Kind != syntax.StrExpr && s.X.Kind != syntax.WordExpr {
		c.fail(s.X.Span, "", "%s is a text in quotes", s.Name)
	}
	return s.X.Name
}

func (c *checker) choice(s *syntax.Setting, among ...string) string {
	text := strings.ToLower(c.literal(s))
	if !slices.Contains(among, text) {
		c.fail(s.X.Span, "", "%s is one of %s", s.Name, strings.Join(among, ", "))
	}
	return text
}

// declarations applies the sizes of declared maps.
func (c *checker) declarations() {
	for _, d := range c.script.Maps {
		switch {
		case d.Type != "hash" && d.Type != "percpuhash":
			c.fail(d.Span, "write hash(N): a full map drops new keys and counts them", "map type %s is not part of the language", d.Type)
		case d.Size < 1 || d.Size > maxMapKeys:
			c.fail(d.Span, "", "a map has from 1 to %d keys", maxMapKeys)
		case c.sized[d.Name] != 0:
			c.fail(d.Span, "delete one declaration", "map %s is declared twice", d.Name)
		default:
			c.sized[d.Name] = int(d.Size)
			c.mapOf(d.Name)
		}
	}
}

// arguments are the positional and the named arguments of a script.
type arguments struct {
	positional []string
	named      map[string]string // "true" for --name alone
	used       map[string]bool
}

func parseArguments(args []string) arguments {
	a := arguments{named: map[string]string{}, used: map[string]bool{}}
	for _, arg := range args {
		rest, ok := strings.CutPrefix(arg, "--")
		if !ok || rest == "" {
			a.positional = append(a.positional, arg)
			continue
		}
		name, value, given := strings.Cut(rest, "=")
		if !given {
			value = "true"
		}
		a.named[name] = value
	}
	return a
}

// parameter returns a positional parameter as a literal: a number if it is one, else a text. One that is not given is the
// number 0, and given is false.
func (c *checker) parameter(n uint64) (x *ir.Expr, text string, given bool) {
	if n > uint64(len(c.args.positional)) {
		return &ir.Expr{Op: ir.ConstInt, Type: ir.Literal(0)}, "", false
	}
	text = c.args.positional[n-1]
	digits, negative := strings.CutPrefix(text, "-")
	if v, wrong := syntax.ParseInt(digits); wrong == "" {
		return literal(v, negative), text, true
	}
	return textConst(text), text, true
}

// literal returns an integer literal with its sign.
func literal(v uint64, negative bool) *ir.Expr {
	x := &ir.Expr{Op: ir.ConstInt, Type: ir.Literal(v), Int: int64(v)}
	if negative {
		x.Int, x.Type.Literal, x.Type.Signed = -x.Int, false, true
	}
	return x
}

// textConst returns a text, which ends at its first NUL.
func textConst(s string) *ir.Expr {
	s, _, _ = strings.Cut(s, "\x00")
	return &ir.Expr{Op: ir.ConstText, Type: ir.Text(len(s) + 1), Text: s}
}
