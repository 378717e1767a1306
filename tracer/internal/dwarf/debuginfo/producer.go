package debuginfo

import (
	"debug/dwarf"
	"slices"
	"strings"
)

// ByGCC reports whether a unit, of which this is the first entry, was compiled by gcc.
func ByGCC(compile *dwarf.Entry) bool { return strings.HasPrefix(producerOf(compile), "GNU ") }

// Compiler returns the name and version of the compiler that wrote the scope's debugging
// information, without its options: "GNU C17 12.2.0". It returns "" if the unit does not name a
// compiler.
func (s *Scope) Compiler() string {
	name, _, _ := strings.Cut(producerOf(s.Compile), " -")
	name, _, _ = strings.Cut(name, ";") // Go lists experiments after it
	return name
}

func producerOf(compile *dwarf.Entry) string {
	producer, _ := compile.Val(dwarf.AttrProducer).(string)
	return producer
}

// OptimizedByGCC reports whether a function is, or may be, optimized by gcc, whose debugging
// information then says some things that are not so.
func (s *Scope) OptimizedByGCC() bool {
	if !ByGCC(s.Compile) {
		return false
	}
	level, told := "-O0", false
	for word := range strings.FieldsSeq(producerOf(s.Compile)) {
		told = told || strings.HasPrefix(word, "-m") // the options are there: -mtune is always one
		if strings.HasPrefix(word, "-O") {
			level = word
		}
	}
	// A function may ask for more than its unit does. Without optimization, all parameters are in
	// the frame.
	return !told || level != "-O0" || slices.ContainsFunc(s.Variables, func(e *dwarf.Entry) bool {
		expr, _ := e.Val(dwarf.AttrLocation).([]byte)
		return e.Tag == dwarf.TagFormalParameter && (len(expr) == 0 || expr[0] != opFbreg)
	})
}

const opFbreg = 0x91 // DW_OP_fbreg
