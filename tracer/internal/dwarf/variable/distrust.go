package variable

import (
	"debug/dwarf"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// Values are read from the locations in the debugging information, right or wrong. Only the checks
// in this file distrust a compiler. Each check suppresses more wrong values than right ones in
// random programs that were not used to develop it: see docs/simple.md.

// distrusted returns the reason why a variable's location is not used, or nil if it is used.
func (fr *Frame) distrusted(e *dwarf.Entry, t *Type, l *Location) error {
	switch {
	case fr.untracked(e):
		return errUntracked
	case fr.spilled(t, l):
		return errSpilled
	}
	return nil
}

// untracked reports whether gcc gave an entry one register for its whole scope. gcc does so if it
// did not track the variable (add_location_or_const_value_attribute, dwarf2out.cc). The register
// may then hold other values in part of the scope. Parameters of a called function are in it from
// the start.
func (fr *Frame) untracked(e *dwarf.Entry) bool {
	expr, _ := e.Val(dwarf.AttrLocation).([]byte)
	fn := fr.scope.Function()
	if len(expr) == 0 || (expr[0] < opReg0 || expr[0] >= opReg0+32) && expr[0] != opRegx || !fn.OptimizedByGCC() {
		return false
	}
	return e.Tag != dwarf.TagFormalParameter || fn.Entry.Tag != dwarf.TagSubprogram
}

var errUntracked = unavailable("gcc does not say where in its scope it is in that register")

// spilled reports whether LLVM put a variable on the stack but omitted the load from its
// expression. The expression then yields the stack address in place of the value (LLVM 14).
func (fr *Frame) spilled(t *Type, l *Location) bool {
	return !fr.unit.isGo && !fr.unit.isGCC && t.Class != Pointer && l.ofStack()
}

var errSpilled = unavailable("clang has an address in the stack for a variable that is no pointer")

// ofStack reports whether a value is computed from the stack pointer without any load.
func (l *Location) ofStack() bool {
	stack := false
	for _, s := range l.Program {
		if s.Op == location.Deref {
			return false
		}
		stack = stack || s.Op == location.Register && s.Arg == stackPointer
	}
	return l.Kind == Value && stack
}

const stackPointer = 7 // AMD64 ABI, figure 3.36
