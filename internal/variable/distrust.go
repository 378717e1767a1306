package variable

import (
	"debug/dwarf"

	"github.com/waymark-trace/waymark/internal/fetch"
)

// Values are those that the debugging information has, right or wrong. This is the one stage that distrusts a
// compiler: each of its checks suppresses more wrong values than it withholds right ones, in random programs
// that it was not made with: see docs/simple.md.

// distrusted returns why a variable's location is not used although the compiler wrote it, nil when it is.
func (fr *Frame) distrusted(e *dwarf.Entry, t *Type, l *Location) error {
	switch {
	case fr.untracked(e):
		return errUntracked
	case fr.spilled(t, l):
		return errSpilled
	}
	return nil
}

// untracked reports whether an entry has the one register for all of its scope that gcc names when it did not
// track the variable (add_location_or_const_value_attribute, dwarf2out.cc): where in the scope
// it is there is not known. Parameters of a function that is called are there from its beginning.
func (fr *Frame) untracked(e *dwarf.Entry) bool {
	expr, _ := e.Val(dwarf.AttrLocation).([]byte)
	fn := fr.scope.Function()
	if len(expr) == 0 || (expr[0] < opReg0 || expr[0] >= opReg0+32) && expr[0] != opRegx || !fn.OptimizedByGCC() {
		return false
	}
	return e.Tag != dwarf.TagFormalParameter || fn.Entry.Tag != dwarf.TagSubprogram
}

var errUntracked = unavailable("gcc does not say where in its scope it is in that register")

// spilled reports whether LLVM put a variable on the stack and its expression leaves out the load: then the
// address in the stack stands for the value (LLVM 14).
func (fr *Frame) spilled(t *Type, l *Location) bool {
	return !fr.unit.isGo && !fr.unit.isGCC && t.Class != Pointer && l.ofStack()
}

var errSpilled = unavailable("clang has an address in the stack for a variable that is no pointer")

// ofStack reports whether a value is computed of the stack's address, and of nothing that is loaded.
func (l *Location) ofStack() bool {
	stack := false
	for _, s := range l.Program {
		if s.Op == fetch.Deref {
			return false
		}
		stack = stack || s.Op == fetch.Register && s.Arg == stackPointer
	}
	return l.Kind == Value && stack
}

const stackPointer = 7 // AMD64 ABI, figure 3.36
