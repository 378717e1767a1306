package ccode

import (
	"golang.org/x/arch/x86/x86asm"
)

// stackOp is an instruction as far as the stack is concerned.
type stackOp struct {
	address uint64
	target  uint64 // of a jump, 0 if it is computed
	by      int64  // the constant of a change
	access  access
	sp      change // of the stack pointer
	bp      change // of the frame pointer
	takes   base   // the register that is copied
	size    uint8
	falls   bool
	jumps   bool
	call    bool // of another function
	lea     bool // computes the address of its memory operand
}

// access is a memory operand that is relative to the stack or frame pointer.
type access struct {
	disp    int64
	base    base
	indexed bool
}

type base uint8

const (
	none base = iota
	stack
	frame
)

// change is how an instruction sets the stack or frame pointer.
type change uint8

const (
	kept      change = iota
	add              // a constant to itself
	fromStack        // to the stack pointer plus a constant
	fromFrame        // to the frame pointer plus a constant
	lowered          // by an unknown amount: alignment, variables of variable size
	lost             // to something else
)

// stackOpAt decodes the instruction at an address; size is 0 for unknown ones.
func stackOpAt(code []byte, address uint64) stackOp {
	in, inst, known := decodeAll(code, address)
	op := stackOp{address: address, target: in.target, size: uint8(in.size), falls: in.falls, jumps: in.jumps}
	if !known {
		op.otherAccess(code)
		return op
	}
	op.call = inst.Op == x86asm.CALL || inst.Op == x86asm.LCALL
	op.lea = inst.Op == x86asm.LEA
	if inst.Op == x86asm.NOP || inst.Op == 0 || changesNothing(&inst) {
		return op
	}
	op.operands(&inst)
	op.pointers(&inst)
	return op
}

// changesNothing reports whether an instruction writes back what it reads: an OR with 0 is a memory
// barrier, or checks that the stack may grow. LLVM lets the barrier use the red zone in every function.
func changesNothing(inst *x86asm.Inst) bool {
	_, mem := inst.Args[0].(x86asm.Mem)
	return inst.Op == x86asm.OR && mem && inst.Args[1] == x86asm.Imm(0)
}

func baseOf(r x86asm.Reg) base {
	switch r {
	case x86asm.RSP, x86asm.ESP, x86asm.SP, x86asm.SPB:
		return stack
	case x86asm.RBP, x86asm.EBP, x86asm.BP, x86asm.BPB:
		return frame
	}
	return none
}

// operands notes the memory operand, and the copies of pointers to the stack.
func (op *stackOp) operands(inst *x86asm.Inst) {
	for i, a := range inst.Args {
		switch a := a.(type) {
		case x86asm.Mem:
			b := baseOf(a.Base)
			if i := baseOf(a.Index); b == none && i != none {
				b = i // lea (,%rbp,8), or the two exchanged
			}
			if b == none || a.Segment == x86asm.FS || a.Segment == x86asm.GS {
				continue
			}
			op.access = access{a.Disp, b, a.Index != 0}
		case x86asm.Reg:
			if b := baseOf(a); b != none && (i > 0 || inst.Op == x86asm.PUSH || inst.Op == x86asm.XCHG) && !onlyReads(inst.Op) {
				op.takes = b
			}
		}
	}
}

// onlyReads reports whether an instruction has no result other than flags.
func onlyReads(o x86asm.Op) bool { return o == x86asm.CMP || o == x86asm.TEST || o == x86asm.BT }

const word = 8

// pointers notes the changes of the stack and the frame pointer.
func (op *stackOp) pointers(inst *x86asm.Inst) {
	switch inst.Op {
	case x86asm.PUSH, x86asm.PUSHF, x86asm.PUSHFQ:
		op.sp, op.by = add, -word
	case x86asm.POP, x86asm.POPF, x86asm.POPFQ:
		op.sp, op.by = add, word
	case x86asm.LEAVE:
		op.sp, op.by, op.bp = fromFrame, word, lost
		return
	case x86asm.ENTER:
		op.sp, op.bp = lost, lost
		return
	}
	if (op.sp == add) && inst.DataSize == 16 {
		op.sp = lost
	}
	if onlyReads(inst.Op) || inst.Op == x86asm.PUSH || inst.Op == x86asm.CALL || inst.Op == x86asm.JMP {
		return
	}
	for i, a := range inst.Args {
		r, ok := a.(x86asm.Reg)
		if !ok || i > 0 && inst.Op != x86asm.XCHG && inst.Op != x86asm.XADD {
			continue
		}
		switch baseOf(r) {
		case stack:
			op.sp, op.by = set(inst, stack)
		case frame:
			op.bp, op.by = setFrame(inst, op)
		}
	}
}

// setFrame returns the change of the frame pointer. The constant of POP is the stack pointer's.
func setFrame(inst *x86asm.Inst, op *stackOp) (change, int64) {
	if inst.Op == x86asm.POP {
		return lost, op.by
	}
	return set(inst, frame)
}

// set returns the change of a pointer that is an instruction's first operand.
func set(inst *x86asm.Inst, own base) (change, int64) {
	if r, _ := inst.Args[0].(x86asm.Reg); r != x86asm.RSP && r != x86asm.RBP {
		return lost, 0
	}
	imm, constant := inst.Args[1].(x86asm.Imm)
	switch inst.Op {
	case x86asm.SUB:
		if constant {
			return add, -int64(imm)
		}
		return lowered, 0
	case x86asm.ADD:
		if constant {
			return add, int64(imm)
		}
	case x86asm.AND:
		return lowered, 0
	case x86asm.MOV:
		if from, ok := inst.Args[1].(x86asm.Reg); ok {
			return from64(from, 0)
		}
	case x86asm.LEA:
		if m, ok := inst.Args[1].(x86asm.Mem); ok && m.Index == 0 {
			if c, by := from64(m.Base, m.Disp); c == fromStack && own == stack || c == fromFrame && own == frame {
				return add, by
			} else if c != lost {
				return c, by
			}
		}
	}
	return lost, 0
}

func from64(r x86asm.Reg, by int64) (change, int64) {
	switch r {
	case x86asm.RSP:
		return fromStack, by
	case x86asm.RBP:
		return fromFrame, by
	}
	return lost, 0
}

// otherAccess notes the memory operand of an instruction that x86asm does not know.
func (op *stackOp) otherAccess(code []byte) {
	_, at := other(code)
	if at == 0 || at+1 >= len(code) || code[at]>>6 == 3 {
		return
	}
	mod, rm := code[at]>>6, code[at]&7
	disp := at + 1
	if rm == 4 {
		sib := code[disp]
		disp++
		rm = sib & 7
		op.access.indexed = sib>>3&7 != 4
	}
	switch {
	case rm == 4:
		op.access.base = stack
	case rm == 5 && mod != 0:
		op.access.base = frame
	default:
		op.access = access{}
		return
	}
	// The prefix may mean R12 or R13, and scale the displacement: the lowest address counts.
	const most = 64
	switch {
	case mod == 1 && disp < len(code):
		op.access.disp = min(int64(int8(code[disp])), int64(int8(code[disp]))*most)
	case mod == 2 && disp+4 <= len(code):
		for i := range 4 {
			op.access.disp |= int64(code[disp+i]) << (8 * i)
		}
		op.access.disp = int64(int32(op.access.disp))
	}
}
