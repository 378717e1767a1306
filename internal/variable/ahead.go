package variable

import (
	"bytes"
	"debug/dwarf"
)

// Ahead is what is executed ahead of a marker.
type Ahead struct {
	// From are the instructions after which it is passed.
	From []uint64
	// What the one does that ends there, when there is no other. Registers are numbered as DWARF does.
	Changes uint32 // bits of those that have other values behind it, as far as that is known
	// Fresh are those of them that have what was read from memory, or what a function returned. Neither is
	// moved across a marker: the statement that it belongs to is ahead.
	Fresh uint32
	// Statement says that it is of a statement that is executed ahead of the marker, as a whole.
	Statement bool
	// Copies says that it makes To a copy of Of.
	Copies bool
	Of, To uint8
}

// clang's lists of locations have no views. An entry that begins at the very address of a marker without an
// instruction may be that of an assignment ahead, or of one behind it of which the value was computed ahead.
//
// There is no question when the same location is also that of where the program comes from; when the value only moved, as
// what had it is overwritten there, or copied; or of memory, where the marker keeps the order; or of a variable that has its
// first value of the instruction ahead, as it is named where it has none yet by mistake only. Nor when it is the
// value of a statement that can't be behind, or the first that is told of a parameter, unless another
// variable has it as well, which it may be assigned to behind the marker.

// told reports whether a variable has the value at the marker that is in a list from there on. first says that the list
// has nothing ahead.
func (fr *Frame) told(e *dwarf.Entry, expr []byte, first bool) bool {
	if isMemory(expr) || fr.unchanged(e, expr) {
		return true
	}
	if first && e.Tag == dwarf.TagVariable && fr.ahead.Changes&firstRegister(expr) != 0 {
		return true
	}
	to, ok := register(expr)
	if !ok {
		return len(expr) > 0 && expr[0] == opEntryValue // which has a reason of its own
	}
	if len(fr.ahead.From) == 1 {
		before := fr.at(e, fr.ahead.From[0])
		of, ok := register(before)
		moved := fr.ahead.Changes>>of&1 != 0 || fr.ahead.Copies && fr.ahead.Of == of && fr.ahead.To == to
		if ok && moved && bytes.Equal(before[1:], expr[1:]) {
			return true
		}
	}
	if len(expr) > 1 {
		return false
	}
	certain := fr.ahead.Fresh>>to&1 != 0 || fr.ahead.Statement && fr.ahead.Changes>>to&1 != 0 || e.Tag == dwarf.TagFormalParameter && first
	return certain && !fr.shared(e, expr)
}

// unchanged reports whether a variable has the same location wherever the program comes from. Of a parameter more pieces may be
// told from there on.
func (fr *Frame) unchanged(e *dwarf.Entry, expr []byte) bool {
	for _, from := range fr.ahead.From {
		before := fr.at(e, from)
		n := len(before)
		more := e.Tag == dwarf.TagFormalParameter && n > 1 && before[n-2] == opPiece && bytes.HasPrefix(expr, before)
		if !more && !bytes.Equal(before, expr) {
			return false
		}
	}
	return len(fr.ahead.From) > 0
}

// at returns the expression that a variable has at another address, nil for none.
func (fr *Frame) at(e *dwarf.Entry, address uint64) []byte {
	expr, err := fr.unit.expression(e, dwarf.AttrLocation, point{address: address, view: NoView})
	if err != nil {
		return nil
	}
	return expr
}

// shared reports whether another variable in scope is in the same place.
func (fr *Frame) shared(e *dwarf.Entry, expr []byte) bool {
	for s := fr.scope; s != nil; s = s.Parent {
		for _, o := range s.Variables {
			if o != e && bytes.Equal(fr.at(o, fr.pc), expr) {
				return true
			}
		}
		if s == fr.scope.Function() {
			break
		}
	}
	return false
}

// firstRegister returns the register that an expression begins with, as a bit.
func firstRegister(expr []byte) uint32 {
	if n, ok := register(expr); ok {
		return 1 << n
	}
	if len(expr) > 0 && expr[0] >= opBreg0 && expr[0] < opBreg0+32 {
		return 1 << (expr[0] - opBreg0)
	}
	return 0
}

// register returns the register that an expression names as a location, of all or of the first piece.
func register(expr []byte) (n uint8, ok bool) {
	if len(expr) > 0 && expr[0] >= opReg0 && expr[0] < opReg0+32 {
		return expr[0] - opReg0, true
	}
	return 0, false
}

// isMemory reports whether an expression is an address relative to a register.
func isMemory(expr []byte) bool {
	return len(expr) > 1 && (expr[0] >= opBreg0 && expr[0] < opBreg0+32 || expr[0] == opFbreg) && expr[len(expr)-1] != opStackValue
}
