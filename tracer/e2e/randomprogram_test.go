package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// randomProgram returns a program in C or C++. Its functions have loops, conditions, calls and
// recursion, and simple markers for the variables in scope. With -DPRINT it prints the values of
// the variables in place of each marker.
func randomProgram(seed uint64, cplusplus bool) string {
	w := &programWriter{Rand: rand.New(rand.NewPCG(seed, 17)), cplusplus: cplusplus}
	w.WriteString(programHead)
	functions := 3 + w.IntN(5)
	for range functions {
		w.function()
	}
	w.WriteString("int main(void)\n{\n\tlong r = 0;\n")
	w.depth = 1
	for round := range 2 {
		for i := range w.functions {
			if round == 0 || w.chance(30) {
				w.line("r += %s;", w.call(i, func() string { return w.pick("words[%d]", "words[%d] + 1", "(int)r & %d") }))
			}
		}
	}
	w.line("sink += (int)r;")
	w.WriteString("\treturn 0;\n}\n")
	return w.String()
}

const programHead = `#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "waymark/simple.h"
#ifdef PRINT
static int left = 1500;
#define MARK(name, format, ...) do { printf(name " " format "\n", __VA_ARGS__); if (--left == 0) exit(9); } while (0)
#define MARK_ANCHORED MARK
#else
#define MARK WAYMARK_SIMPLE
#define MARK_ANCHORED WAYMARK_SIMPLE_ANCHORED
#endif
struct pair { long x; int y; };
static volatile long words[8] = {3, 5, 2, 6, 1, 4, 7, 0};
static volatile int sink;
static void *volatile escape;
static int table[8] = {4, -1, 7, 12, 0, 3, 9, 2};
static long total;
__attribute__((noinline)) static void clobber(long n)
{
	__asm__ __volatile__("" ::: "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	sink += (int)(n & 15);
}

`

// programWriter writes one program.
type programWriter struct {
	*rand.Rand
	strings.Builder
	cplusplus bool
	functions []programFunction
	scope     []programVariable
	names     int // of variables
	marks     int
	depth     int // of blocks
	loops     int // around the statement
	inSwitch  bool
	budget    int // statements left for the function
	recursive bool
	result    string
}

type programFunction struct {
	name   string
	params []programVariable
}

type programVariable struct {
	name, kind string
	fixed      bool // assigned by the statement that declares it alone
	pair       bool
}

// randomFormats are how printf prints each type.
var randomFormats = map[string]string{
	"int": "%d", "long": "%ld", "unsigned": "%u", "unsigned long": "%lu", "short": "%hd", "unsigned char": "%hhu", "signed char": "%hhd",
}

var randomKinds = []string{"int", "int", "int", "int", "long", "long", "long", "unsigned", "unsigned long", "short", "unsigned char", "signed char"}

func (w *programWriter) chance(percent int) bool { return w.IntN(100) < percent }

func (w *programWriter) line(format string, args ...any) {
	w.WriteString(strings.Repeat("\t", w.depth))
	fmt.Fprintf(w, format, args...)
	w.WriteString("\n")
}

// pick returns one of some randomFormats, with a number below 8.
func (w *programWriter) pick(all ...string) string {
	s := all[w.IntN(len(all))]
	if strings.Contains(s, "%d") {
		return fmt.Sprintf(s, w.IntN(8))
	}
	return s
}

func (w *programWriter) name() string {
	w.names++
	return fmt.Sprintf("v%d", w.names)
}

// function writes a function that can call those before it, and itself.
func (w *programWriter) function() {
	f := programFunction{name: fmt.Sprintf("f%d", len(w.functions))}
	w.scope, w.depth, w.loops, w.budget = nil, 1, 0, 5+w.IntN(14)
	w.recursive = w.chance(30)
	f.params = []programVariable{{name: "n", kind: w.pick("int", "int", "long", "unsigned"), fixed: w.recursive || w.chance(50)}}
	for range w.IntN(5) {
		f.params = append(f.params, programVariable{name: w.name(), kind: randomKinds[w.IntN(len(randomKinds))]})
	}
	var params []string
	for _, p := range f.params {
		params = append(params, p.kind+" "+p.name)
	}
	w.scope = append(w.scope, f.params...)
	w.result = w.pick("long", "int")
	linkage := w.pick("static", "static", "static inline", "__attribute__((noinline)) static", "__attribute__((noinline)) static", "static inline __attribute__((always_inline))")
	if w.recursive {
		linkage = w.pick("static", "static", "__attribute__((noinline)) static")
	}
	if w.cplusplus && w.chance(30) {
		w.WriteString("template <typename T> ")
		params[len(params)-1] = "T " + f.params[len(params)-1].name
		w.scope[len(params)-1].kind = "long"
		f.params[len(params)-1].kind = "long"
	}
	fmt.Fprintf(w, "%s %s %s(%s)\n{\n", linkage, w.result, f.name, strings.Join(params, ", "))
	w.functions = append(w.functions, f)
	if w.chance(40) {
		w.mark()
	}
	for w.budget > 0 {
		w.statement()
	}
	if w.chance(40) {
		w.mark()
	}
	w.functions = w.functions[:len(w.functions)-1]
	if w.recursive && w.chance(60) {
		w.line("return n > 0 ? %s : %s;", w.itself(f), w.value())
	} else {
		w.line("return %s;", w.expression(2))
	}
	w.WriteString("}\n\n")
	w.functions = append(w.functions, f)
}

// itself is a recursive call, mostly one in the place of a loop.
func (w *programWriter) itself(f programFunction) string {
	args := []string{w.pick("n - 1", "n - 1", "n - 2", "n / 2")}
	for _, p := range f.params[1:] {
		arg := w.expression(1)
		if w.chance(40) {
			arg = p.name
		}
		args = append(args, "("+p.kind+")("+arg+")")
	}
	call := fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", "))
	return call + w.pick("", "", "", " + 1", " ^ %d")
}

// call calls function i with a small first argument.
func (w *programWriter) call(i int, value func() string) string {
	f := w.functions[i]
	args := []string{fmt.Sprintf("(%s)(%s & 7)", f.params[0].kind, value())}
	for _, p := range f.params[1:] {
		args = append(args, "("+p.kind+")("+value()+")")
	}
	return fmt.Sprintf("%s(%s)", f.name, strings.Join(args, ", "))
}

// value returns a variable, a number, or an expression unknown to the compiler.
func (w *programWriter) value() string {
	switch n := w.IntN(10); {
	case n < 6 && len(w.scope) > 0:
		v := w.scope[w.IntN(len(w.scope))]
		if v.pair {
			return v.name + w.pick(".x", ".y")
		}
		return v.name
	case n < 8:
		return w.pick("%d", "1", "-1", "100", "%d")
	case n < 9:
		return w.pick("words[%d]", "table[%d]")
	}
	return w.pick("total", "sink", "table[%d]")
}

func (w *programWriter) expression(depth int) string {
	if depth == 0 || w.chance(25) {
		return w.value()
	}
	a := w.expression(depth - 1)
	switch w.IntN(9) {
	case 0, 1, 2:
		return fmt.Sprintf("(%s + %s)", a, w.expression(depth-1))
	case 3:
		return fmt.Sprintf("(%s - %s)", a, w.expression(depth-1))
	case 4:
		return fmt.Sprintf("(%s %s %s)", a, w.pick("^", "&", "|"), w.expression(depth-1))
	case 5:
		return fmt.Sprintf("(%s >> %d)", a, 1+w.IntN(3))
	case 6:
		return fmt.Sprintf("(%s & %d)", a, []int{1, 3, 7, 15, 255}[w.IntN(5)])
	case 7:
		return fmt.Sprintf("((%s & 255) * %d)", a, 2+w.IntN(9))
	}
	return fmt.Sprintf("table[%s & 7]", a)
}

func (w *programWriter) condition() string {
	return fmt.Sprintf("%s %s %s", w.expression(1), w.pick("<", ">", "==", "!=", "<=", ">="), w.value())
}

// assigned returns a variable that statements may assign.
func (w *programWriter) assigned() (string, bool) {
	var all []string
	for _, v := range w.scope {
		switch {
		case v.fixed:
		case v.pair:
			all = append(all, v.name+".x", v.name+".y")
		default:
			all = append(all, v.name)
		}
	}
	if len(all) == 0 {
		return "", false
	}
	return all[w.IntN(len(all))], true
}

// mark marks some of the variables in scope, the latest most of all.
func (w *programWriter) mark() {
	var names, verbs []string
	for i := len(w.scope) - 1; i >= 0 && len(names) < 6; i-- {
		if !w.chance(75) {
			continue
		}
		v := w.scope[i]
		if v.pair {
			names, verbs = append(names, v.name+".x", v.name+".y"), append(verbs, "%ld", "%d")
			continue
		}
		names, verbs = append(names, v.name), append(verbs, randomFormats[v.kind])
	}
	if len(names) == 0 {
		return
	}
	w.marks++
	w.line("%s(\"r:m%d\", \"%s\", %s);", w.pick("MARK", "MARK", "MARK", "MARK_ANCHORED"), w.marks, strings.Join(verbs, " "), strings.Join(names, ", "))
}

// block writes some statements with a scope of their own.
func (w *programWriter) block(statements int, before, after func()) {
	outer, budget := len(w.scope), w.budget
	w.depth++
	if before != nil {
		before()
	}
	w.budget = min(statements, budget)
	used := w.budget
	for w.budget > 0 {
		w.statement()
	}
	w.budget = budget - used
	if after != nil {
		after()
	}
	w.scope = w.scope[:outer]
	w.depth--
}

func (w *programWriter) statement() {
	w.budget--
	if w.chance(28) {
		w.mark()
	}
	switch n := w.IntN(100); {
	case n < 17:
		w.declare()
	case n < 38:
		w.assign()
	case n < 50:
		w.line("if (%s) {", w.condition())
		w.block(1+w.IntN(3), w.some(25), w.some(25))
		if w.chance(40) {
			w.line("} else {")
			w.block(1+w.IntN(3), nil, w.some(15))
		}
		w.line("}")
	case n < 66 && w.loops < 2:
		w.loop()
	case n < 70 && w.loops > 0 && !w.inSwitch:
		w.line("if (%s)", w.condition())
		w.line("\t%s;", w.pick("break", "continue", "break"))
	case n < 74:
		w.choose()
	case n < 82 && len(w.functions) > 1 && w.loops < 2:
		i := w.IntN(len(w.functions) - 1) // the last is the one that is written
		call := w.call(i, w.value)
		if v, ok := w.assigned(); ok && w.chance(70) {
			w.line("%s %s %s;", v, w.pick("=", "^="), call)
		} else {
			w.line("sink += (int)(%s & 3);", call)
		}
	case n < 87:
		w.line("clobber(%s);", w.value())
	case n < 91:
		w.line("%s;", w.pick("sink++", "total ^= "+w.value(), "table[%d] = (int)(("+w.value()+") & 63)", "table[%d]++"))
	case n < 94 && w.recursive:
		w.line("if (n > 0 && %s)", w.condition())
		w.line("\treturn %s;", w.itself(w.functions[len(w.functions)-1]))
	case n < 96:
		w.line("if (%s)", w.condition())
		w.line("\treturn %s;", w.value())
	case n < 98 && len(w.scope) > 0:
		if v := w.scope[w.IntN(len(w.scope))]; !v.fixed {
			w.line("escape = (void *)&%s;", v.name)
		}
	default:
		w.assign()
	}
}

// some marks with a probability.
func (w *programWriter) some(percent int) func() {
	return func() {
		if w.chance(percent) {
			w.mark()
		}
	}
}

func (w *programWriter) declare() {
	v := programVariable{name: w.name(), kind: randomKinds[w.IntN(len(randomKinds))], pair: w.chance(10), fixed: w.chance(10)}
	switch {
	case v.pair:
		v.fixed = false
		w.line("struct pair %s = {%s, (int)(%s)};", v.name, w.expression(1), w.expression(1))
	case w.chance(15):
		v.fixed = false
		w.line("%s %s;", v.kind, v.name)
		w.line("if (%s)", w.condition())
		w.line("\t%s = (%s)(%s);", v.name, v.kind, w.expression(1))
		w.line("else")
		w.line("\t%s = (%s)(%s);", v.name, v.kind, w.value())
	default:
		w.line("%s%s %s = (%s)(%s);", map[bool]string{true: w.pick("const ", "")}[v.fixed], v.kind, v.name, v.kind, w.expression(2))
	}
	w.scope = append(w.scope, v)
}

func (w *programWriter) assign() {
	v, ok := w.assigned()
	if !ok {
		w.declare()
		return
	}
	switch w.IntN(7) {
	case 0:
		w.line("%s++;", v)
	case 1:
		w.line("%s %s %s;", v, w.pick("+=", "-=", "^=", "|=", "&="), w.value())
	case 2:
		w.line("%s %s %s;", v, w.pick("+=", "-=", "^="), w.expression(1))
	case 3:
		w.line("%s = %s;", v, w.value())
	default:
		w.line("%s = %s;", v, w.expression(2))
	}
}

// loop writes one of the loops of C. Only the loop assigns its counter.
func (w *programWriter) loop() {
	i := programVariable{name: w.name(), kind: w.pick("int", "int", "int", "long", "unsigned", "short"), fixed: true}
	bound := w.pick("%d", "(int)(words[%d] & 3)", "4", "3")
	if w.chance(50) {
		bound = fmt.Sprintf("(int)(%s & %d)", w.value(), []int{3, 7}[w.IntN(2)])
	}
	w.loops++
	inSwitch := w.inSwitch
	w.inSwitch = false
	size := 1 + w.IntN(4)
	scope, end := len(w.scope), "}"
	switch w.IntN(6) {
	case 0, 1:
		w.line("for (%s %s = 0; %s < (%s)%s; %s++) {", i.kind, i.name, i.name, i.kind, bound, i.name)
		w.scope = append(w.scope, i)
		w.block(size, w.some(35), w.some(20))
	case 2:
		w.line("%s %s = (%s)%s;", i.kind, i.name, i.kind, bound)
		w.scope, scope = append(w.scope, i), scope+1
		w.line("while (%s > 0) {", i.name)
		w.block(size, func() { w.line("%s--;", i.name); w.some(35)() }, w.some(20))
	case 3:
		w.line("%s %s = 0;", i.kind, i.name)
		w.scope, scope = append(w.scope, i), scope+1
		w.line("for (; %s < %d; %s += %d) {", i.name, 2+w.IntN(9), i.name, 1+w.IntN(3))
		w.block(size, w.some(35), w.some(20))
	case 4:
		w.line("%s %s = (%s)%s;", i.kind, i.name, i.kind, bound)
		w.scope, scope = append(w.scope, i), scope+1
		w.line("do {")
		w.block(size, func() { w.line("%s--;", i.name); w.some(35)() }, w.some(20))
		end = fmt.Sprintf("} while ((int)%s > 0);", i.name)
	default:
		w.line("for (%s %s = (%s)%s; %s > 0; %s--) {", i.kind, i.name, i.kind, bound, i.name, i.name)
		w.scope = append(w.scope, i)
		w.block(size, w.some(35), w.some(20))
	}
	w.line("%s", end)
	w.scope = w.scope[:scope]
	w.loops--
	w.inSwitch = inSwitch
}

func (w *programWriter) choose() {
	inSwitch := w.inSwitch
	w.inSwitch = true
	w.line("switch (%s & %d) {", w.value(), []int{1, 3, 7}[w.IntN(3)])
	for i := range 1 + w.IntN(4) {
		w.line("case %d: {", i)
		w.block(1+w.IntN(2), w.some(20), nil)
		w.line("\tbreak;")
		w.line("}")
	}
	if w.chance(30) {
		w.line("default: {")
		w.block(1, nil, nil)
		w.line("}")
	}
	w.line("}")
	w.inSwitch = inSwitch
}
