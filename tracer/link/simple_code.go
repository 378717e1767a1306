package link

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/tracer/internal/simple/gocode"
)

func (x86) simple(text []byte, addr uint64) (out gocode.Instruction, ok bool) {
	in, ok := decode(text)
	if !ok {
		return out, false
	}
	out.Len = in.Len
	if in.opaque {
		return out, true
	}
	if rel, ok := in.Args[0].(x86asm.Rel); ok {
		out.Target = addr + uint64(in.Len) + uint64(int64(rel))
	}
	memory, isMemory := in.Args[0].(x86asm.Mem)
	switch in.Op {
	case x86asm.NOP:
		out.Kind = gocode.Nop
	case x86asm.XCHG: // with itself it is the nop of one byte
		if in.Len == 1 && text[0] == 0x90 {
			out.Kind = gocode.Nop
		} else if isMemory && !onStack(memory) {
			out.Kind = gocode.Store
		}
	case x86asm.TEST:
		if isMemory {
			out.Kind = gocode.Check
		}
	case x86asm.CALL:
		out.Kind = gocode.Call
	case x86asm.RET:
		out.Kind = gocode.Return
	case x86asm.JMP:
		out.Kind = gocode.Jump
	case x86asm.UD1, x86asm.UD2, x86asm.INT, x86asm.HLT:
		out.Kind = gocode.Trap
	case x86asm.MOV, x86asm.MOVUPS, x86asm.MOVSS, x86asm.MOVSD_XMM, x86asm.MOVD, x86asm.MOVQ, x86asm.MOVBE,
		x86asm.ADD, x86asm.SUB, x86asm.INC, x86asm.DEC, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.NEG, x86asm.NOT,
		x86asm.XADD, x86asm.CMPXCHG, x86asm.BTS, x86asm.BTR, x86asm.BTC:
		if isMemory && !onStack(memory) {
			out.Kind = gocode.Store
		}
	default:
		if out.Target != 0 {
			out.Kind = gocode.Branch // conditional, the loops and XBEGIN too
		}
	}
	return out, true
}

// onStack reports whether an operand is on the stack, where the compiler also keeps what it has
// no register for.
func onStack(m x86asm.Mem) bool { return m.Base == x86asm.RSP || m.Base == x86asm.RBP }
