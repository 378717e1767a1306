package gocode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/tracer/internal/simple/gosource"
)

// compare holds a source file against what the program says of its functions: one that was
// changed since has them on other lines, or has others.
func (f *finder) compare(s *Source) error {
	declared := make(map[string]*gosource.Function)
	literals := make(map[int]bool)
	for _, fn := range s.Functions {
		if fn.Literal {
			literals[fn.Line] = true
			continue
		}
		name := s.symbol(fn)
		declared[name] = fn
		for _, o := range f.origins[name] {
			if o.line != 0 && (o.line < fn.Line || o.line > fn.Body) && fn.Name != "init" && fn.Name != "_" {
				return changed(s, "%s is on line %d of it and was on line %d", name, fn.Line, o.line)
			}
		}
	}
	for _, fn := range f.functions {
		o := fn.origin
		if o.file != s.Name || o.line == 0 {
			continue
		}
		base, ok := strings.CutPrefix(o.name, s.Package+".")
		if !ok || strings.HasPrefix(base, "init") || strings.HasPrefix(base, "glob.") || strings.HasPrefix(base, "map.init") {
			continue
		}
		if isLiteral(base) {
			if !literals[o.line] {
				return changed(s, "%s was on line %d", o.name, o.line)
			}
			continue
		}
		if declared[o.name] == nil && !strings.Contains(base, "-") && !slices.ContainsFunc(wrappers, func(w string) bool { return strings.Contains(base, w) }) {
			return changed(s, "the program has %s, which is not in it", o.name)
		}
	}
	return nil
}

func changed(s *Source, format string, args ...any) error {
	return fmt.Errorf("%s was changed since the program was built: %s", s.Name, fmt.Sprintf(format, args...))
}

// wrappers are parts of the names of functions that the compiler makes up.
var wrappers = []string{".gowrap", ".deferwrap", ".func", "·"}

// isLiteral reports whether a symbol is that of a function literal: "f.func1", "f.g.func2.1".
func isLiteral(name string) bool {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return false
	}
	rest, ok := strings.CutPrefix(name[i+1:], "func")
	if !ok {
		return false
	}
	return rest != "" && strings.Trim(rest, "0123456789") == ""
}
