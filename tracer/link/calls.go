package link

import (
	"debug/gosym"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// longFunction is the size in bytes of code from which on a function may be one into which the compiler inlines next to
// nothing: it has 5000 nodes (inlineBigFunctionNodes in cmd/compile/internal/inline), of which one rarely
// takes less than a byte.
const longFunction = 4 << 10

// callWarnings says which functions call Mark where it was not inlined, and why.
func (img *image) callWarnings(markers []*markerAt) (warnings []string) {
	if img.race { // nothing of package marker is inlined
		return nil
	}
	calls := make(map[string]int)
	for _, m := range markers {
		for _, s := range m.sites {
			if s.call {
				calls[s.function]++
			}
		}
	}
	if len(calls) == 0 {
		return nil
	}
	functions := make(map[string]*gosym.Func)
	if funcs := img.functions(); funcs != nil {
		for i := range funcs.Funcs {
			fn := &funcs.Funcs[i]
			functions[fn.Name], functions[withoutTypes(fn.Name)] = fn, fn
		}
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		warnings = append(warnings, fmt.Sprintf("%s calls Mark %s instead of testing first, because %s", name, times(calls[name]), img.whyCalled(name, functions)))
	}
	return warnings
}

// whyCalled says why the compiler did not inline Mark into a function.
func (img *image) whyCalled(name string, functions map[string]*gosym.Func) string {
	if img.hasCompilerFlag("-l") {
		return "it was built with -gcflags=-l"
	}
	if inner, outer := copiedClosure(name, functions); inner != "" {
		return fmt.Sprintf("it is a copy of a closure of %s, made when that was inlined into %s, and the compiler inlines nothing into such copies; //go:noinline before %s avoids it", inner, outer, inner)
	}
	if fn := functions[name]; fn != nil && fn.End-fn.Entry >= longFunction {
		return "it is too long for the compiler to inline into"
	}
	return "the compiler did not inline it there"
}

// hasCompilerFlag reports whether the program was built with a flag of the compiler.
func (img *image) hasCompilerFlag(flag string) bool {
	words := strings.FieldsFunc(img.setting("-gcflags"), func(r rune) bool { return r == ' ' || r == '=' })
	return slices.Contains(words, flag)
}

var (
	closureName = regexp.MustCompile(`^func[0-9]+$`)
	rangeBody   = regexp.MustCompile(`-range[0-9]+`)
	typeArgs    = regexp.MustCompile(`\[[^\[\]]*\]`)
)

// copiedClosure returns the function whose closure was copied when the function was inlined, and the one that it
// was inlined into, "" for functions that are no such copies. The compiler names a closure after the function that it is in,
// so pkg.outer.inner.func1 is one of pkg.outer, where inner was inlined, unless there is a function pkg.outer.inner.
func copiedClosure(name string, functions map[string]*gosym.Func) (inner, outer string) {
	dir, rest := "", rangeBody.ReplaceAllString(withoutTypes(name), ".func0")
	if i := strings.LastIndexByte(rest, '/'); i >= 0 {
		dir, rest = rest[:i+1], rest[i+1:]
	}
	parts := strings.Split(rest, ".")
	last := -1
	for i, p := range parts {
		if closureName.MatchString(p) {
			last = i
		}
	}
	if last < 0 {
		return "", ""
	}
	is := func(n int) bool { return functions[dir+strings.Join(parts[:n], ".")] != nil }
	if is(last) {
		return "", ""
	}
	for n := last - 1; n > 1; n-- {
		if !is(n) {
			continue
		}
		names := parts[n:last]
		if i := slices.IndexFunc(names, func(p string) bool { return p != "" && !closureName.MatchString(p) && !isNumber(p) }); i >= 0 {
			return strings.Join(names[i:], "."), dir + strings.Join(parts[:n], ".")
		}
	}
	return "", ""
}

// withoutTypes returns a function's name without type arguments.
func withoutTypes(name string) string {
	for strings.Contains(name, "[") {
		short := typeArgs.ReplaceAllString(name, "")
		if short == name {
			break
		}
		name = short
	}
	return name
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
