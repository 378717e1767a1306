package variable

import (
	"bytes"
	"debug/dwarf"
	"math"

	"github.com/waymark-trace/waymark/internal/debuginfo"
)

// gcc keeps variables apart from the code that computes them, and loses or moves what it says of one, where the
// optimizer changed a loop most of all. Some of that contradicts itself: ahead of a jump a variable is 12, behind it
// in a register, and no instruction has put it there. Then the one or the other is not so, and the value is not told.

// Ways are the ways that control takes through a function: see place.Ways.
type Ways interface {
	Into(low, high uint64, visit func(from uint64) bool)
	Before(address uint64) (at uint64, ok bool)
	Writes(register uint, low, high uint64) bool
	Loaded(register uint, until uint64) (from uint, value int64, ok bool)
	Repeats(address uint64) bool
}

// entries returns a variable's list of locations, nil when it has none, and whether it has views.
func (u *unitInfo) entries(e *dwarf.Entry) (all []entry, viewed bool, err error) {
	at, ok := e.Val(dwarf.AttrLocation).(int64)
	if !ok {
		return nil, false, nil
	}
	seen, err := u.viewsOf(e, dwarf.AttrLocation)
	if err != nil {
		return nil, false, err
	}
	visit := func(n entry) bool {
		all = append(all, n)
		return true
	}
	if u.Version >= 5 {
		_, err = u.each(uint64(at), seen, visit)
	} else {
		err = u.eachOld(uint64(at), seen, visit)
	}
	return all, seen.Buffer != nil, err
}

// contradicted reports whether what a list says at the marker is not what it says of where that is come to from.
func (fr *Frame) contradicted(e *dwarf.Entry, refuses func(Doubt, bool) bool) bool {
	list, viewed, err := fr.unit.entries(e)
	if err != nil || len(list) == 0 {
		return false
	}
	if len(list) > maxHistory {
		return refuses(DoubtDisagrees, true)
	}
	h := history{list: list, viewed: viewed, ways: fr.ways}
	returns, disagrees := h.contradictions(fr.pc, fr.views)
	a, b := refuses(DoubtReturns, returns), refuses(DoubtDisagrees, disagrees)
	return a || b
}

// contradicted does that for the views of an address.
func (h *history) contradicted(pc uint64, views [2]int) bool {
	a, b := h.contradictions(pc, views)
	return a || b
}

func (h *history) contradictions(pc uint64, views [2]int) (returns, disagrees bool) {
	list := h.list
	first, last := h.at(point{address: pc, view: views[0]}), h.at(point{address: pc, view: views[1]})
	if first < 0 || last < 0 {
		return false, false
	}
	returns = h.returns(first) || h.returns(last)
	known := map[int]bool{first: true, last: true}
	looks := 0
	for work := []int{first, last}; len(work) > 0; {
		i := work[len(work)-1]
		work = work[:len(work)-1]
		agrees := true
		h.into(i, func(from uint64, jump bool) bool {
			before := h.at(point{address: from, view: maxView})
			looks++
			switch {
			case looks > maxWays:
				agrees = false
			case before >= 0 && bytes.Equal(list[before].expr, list[i].expr):
				if !known[before] {
					known[before] = true
					work = append(work, before)
				}
			default:
				agrees = h.agree(i, before, from, jump)
			}
			return agrees
		})
		if !agrees {
			return returns, true
		}
	}
	return returns, false
}

const (
	maxHistory = 1 << 10 // entries of a list, and
	maxWays    = 1 << 12 // ways between them that are looked at: what has more is not told
)

// history is a list of locations, and the ways between its entries.
type history struct {
	list   []entry
	viewed bool
	ways   Ways
}

// at returns which entry is for a point, -1 for none.
func (h *history) at(p point) int {
	for i := range h.list {
		if h.list[i].has(p, h.viewed) {
			return i
		}
	}
	return -1
}

// into calls visit for each instruction outside of an entry from which it is come to, until it returns false.
func (h *history) into(i int, visit func(from uint64, jump bool) bool) {
	b := h.list[i].bounds
	low, high := b.from.address, b.to.address
	if b.from.view > 0 {
		low++ // what leads there passes the statement that begins it
	} else if at, ok := h.ways.Before(low); ok && !visit(at, false) {
		return
	}
	if b.to.view > 0 {
		high++
	}
	h.ways.Into(low, high, func(from uint64) bool {
		return b.from.address <= from && from < b.to.address || visit(from, true)
	})
}

// agree reports whether a variable that is as the entry before says, behind an instruction, can be as the next one says. A
// statement that assigns it begins in between where that instruction is not a jump.
func (h *history) agree(next, before int, from uint64, jump bool) bool {
	expr := h.list[next].expr
	switch register := registerOf(expr); {
	case before < 0:
		return true
	case register < 16:
		return h.written(register, before, from) || h.loaded(register, before, from)
	}
	return !jump || !constant(expr)
}

// written reports whether a register was written while the variable was as an entry says, up to an address: then it may have
// been put there.
func (h *history) written(register uint, before int, until uint64) bool {
	for i := range h.list {
		b := h.list[i].bounds
		switch {
		case i == before:
			if h.ways.Writes(register, b.from.address, until) {
				return true
			}
		case b.from.address < b.to.address && b.to.address <= h.list[before].from.address && bytes.Equal(h.list[i].expr, h.list[before].expr):
			if h.ways.Writes(register, b.from.address, b.to.address-1) {
				return true
			}
		}
	}
	return false
}

// loaded reports whether a register was loaded with what an entry says the variable is: that can be ahead of the statement.
func (h *history) loaded(register uint, before int, until uint64) bool {
	from, value, ok := h.ways.Loaded(register, until)
	expr := h.list[before].expr
	if !ok || from < 16 {
		return ok && from == registerOf(expr)
	}
	number, ok := constantOf(expr)
	return ok && int32(number) == int32(value)
}

// constantOf returns the number that an expression leaves, if it is one.
func constantOf(expr []byte) (int64, bool) {
	b := debuginfo.Buffer{Data: expr}
	var n int64
	switch op := byte(b.Uint(1)); {
	case op >= opLit0 && op < opLit0+32:
		n = int64(op - opLit0)
	case op == opConst1u:
		n = int64(b.Uint(1))
	case op == opConst1u+1:
		n = int64(int8(b.Uint(1)))
	case op == opConst1u+2:
		n = int64(b.Uint(2))
	case op == opConst1u+3:
		n = int64(int16(b.Uint(2)))
	case op == opConst1u+4:
		n = int64(b.Uint(4))
	case op == opConst1u+5:
		n = int64(int32(b.Uint(4)))
	case op == opConstu:
		n = int64(b.Uleb())
	case op == opConsts:
		n = b.Sleb()
	default:
		return 0, false
	}
	return n, b.Uint(1) == opStackValue && b.Len() == 0 && b.Err == nil
}

// returns reports whether a variable was in the same place up to the very address where an entry begins, and elsewhere for
// some statements of that address. A variable that is assigned has left it.
func (h *history) returns(i int) bool {
	e := &h.list[i]
	if e.from.view <= 0 || constant(e.expr) {
		return false
	}
	for k := range h.list {
		o := &h.list[k]
		if o.to.address == e.from.address && o.to.view < e.from.view && bytes.Equal(o.expr, e.expr) {
			return true
		}
	}
	return false
}

// registerOf returns the general register that an expression says a variable is in, by DWARF's number, more than 15 for others.
func registerOf(expr []byte) uint {
	if n, ok := register(expr); ok && len(expr) == 1 {
		return uint(n)
	}
	return 16
}

// moved reports whether a parameter that is said to be in one register everywhere is not where the caller left it: it is one
// that gcc knew the value of, and used the register for it later.
func (fr *Frame) moved(e *dwarf.Entry, expr []byte) bool {
	if _, everywhere := e.Val(dwarf.AttrLocation).([]byte); !everywhere || e.Tag != dwarf.TagFormalParameter {
		return false
	}
	r := registerOf(expr)
	return r < 16 && (!bytes.Contains(argumentRegisters, expr) || fr.ways.Writes(r, 0, math.MaxUint64))
}

// once reports whether an entry has one constant for all of the variable's scope, and the marker is in a loop: gcc has that of a
// variable of which it kept a single assignment, `i = 0` of a loop that counts in another way.
func (fr *Frame) once(e *dwarf.Entry) bool {
	if e.Tag != dwarf.TagVariable || e.Val(dwarf.AttrConstValue) == nil || !fr.repeats() {
		return false
	}
	at, _ := fr.unit.attribute(e, dwarf.AttrType).(dwarf.Offset)
	t, err := fr.unit.entryAt(at)
	return err != nil || t.Tag != dwarf.TagConstType
}

// argumentRegisters are RDI, RSI, RDX, RCX, R8 and R9, as expressions: x86-64 psABI, 3.2.3.
var argumentRegisters = []byte{opReg0 + 5, opReg0 + 4, opReg0 + 1, opReg0 + 2, opReg0 + 8, opReg0 + 9}
