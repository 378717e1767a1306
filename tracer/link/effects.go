package link

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// explicit are the instructions whose operands say all that they read and write, besides
// flags and memory. Others may use any register.
var explicit = ops(
	x86asm.CMOVA, x86asm.CMOVAE, x86asm.CMOVB, x86asm.CMOVBE, x86asm.CMOVE, x86asm.CMOVG, x86asm.CMOVGE, x86asm.CMOVL,
	x86asm.CMOVLE, x86asm.CMOVNE, x86asm.CMOVNO, x86asm.CMOVNP, x86asm.CMOVNS, x86asm.CMOVO, x86asm.CMOVP, x86asm.CMOVS,
	x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETG, x86asm.SETGE, x86asm.SETL,
	x86asm.SETLE, x86asm.SETNE, x86asm.SETNO, x86asm.SETNP, x86asm.SETNS, x86asm.SETO, x86asm.SETP, x86asm.SETS,
	x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.NOP, x86asm.BSWAP,
	x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.CMP, x86asm.TEST,
	x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT, x86asm.ADC, x86asm.SBB,
	x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, // by CL, which is then an operand
	x86asm.BT, x86asm.BSF, x86asm.BSR, x86asm.POPCNT, x86asm.LZCNT, x86asm.TZCNT,
	x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQU, x86asm.MOVDQA, x86asm.MOVSS, x86asm.MOVSD_XMM,
	x86asm.MOVD, x86asm.MOVQ, x86asm.XORPS, x86asm.XORPD, x86asm.PXOR,
	x86asm.ADDSD, x86asm.SUBSD, x86asm.MULSD, x86asm.DIVSD, x86asm.SQRTSD,
	x86asm.ADDSS, x86asm.SUBSS, x86asm.MULSS, x86asm.DIVSS, x86asm.SQRTSS,
	x86asm.CVTSI2SD, x86asm.CVTSI2SS, x86asm.CVTTSD2SI, x86asm.CVTTSS2SI, x86asm.CVTSD2SS, x86asm.CVTSS2SD,
	x86asm.UCOMISD, x86asm.UCOMISS,
)

// keepFlags are those of them that leave flags alone.
var keepFlags = ops(
	x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.NOP, x86asm.NOT, x86asm.BSWAP,
	x86asm.MOVAPS, x86asm.MOVAPD, x86asm.MOVUPS, x86asm.MOVUPD, x86asm.MOVDQU, x86asm.MOVDQA, x86asm.MOVSS, x86asm.MOVSD_XMM,
	x86asm.MOVD, x86asm.MOVQ, x86asm.XORPS, x86asm.XORPD, x86asm.PXOR,
	x86asm.ADDSD, x86asm.SUBSD, x86asm.MULSD, x86asm.DIVSD, x86asm.SQRTSD,
	x86asm.ADDSS, x86asm.SUBSS, x86asm.MULSS, x86asm.DIVSS, x86asm.SQRTSS,
	x86asm.CVTSI2SD, x86asm.CVTSI2SS, x86asm.CVTTSD2SI, x86asm.CVTTSS2SI, x86asm.CVTSD2SS, x86asm.CVTSS2SD,
)

// setFlags are those that set all six status flags whatever their operands: what was in them is
// gone. (INC, DEC and shifts leave some.)
var setFlags = ops(
	x86asm.ADD, x86asm.SUB, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.CMP, x86asm.TEST, x86asm.NEG,
	x86asm.UCOMISD, x86asm.UCOMISS,
)

// overwriting are those that write all of their first operand without reading it.
var overwriting = ops(x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.MOVQ, x86asm.MOVD,
	x86asm.CVTTSD2SI, x86asm.CVTTSS2SI)

// flagsRead are those that read a flag, besides conditional jumps.
var flagsRead = ops(
	x86asm.ADC, x86asm.SBB, x86asm.RCL, x86asm.RCR, x86asm.CMC, x86asm.LAHF, x86asm.PUSHF, x86asm.PUSHFD, x86asm.PUSHFQ,
	x86asm.CMOVA, x86asm.CMOVAE, x86asm.CMOVB, x86asm.CMOVBE, x86asm.CMOVE, x86asm.CMOVG, x86asm.CMOVGE, x86asm.CMOVL,
	x86asm.CMOVLE, x86asm.CMOVNE, x86asm.CMOVNO, x86asm.CMOVNP, x86asm.CMOVNS, x86asm.CMOVO, x86asm.CMOVP, x86asm.CMOVS,
	x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETG, x86asm.SETGE, x86asm.SETL,
	x86asm.SETLE, x86asm.SETNE, x86asm.SETNO, x86asm.SETNP, x86asm.SETNS, x86asm.SETO, x86asm.SETP, x86asm.SETS,
	x86asm.JA, x86asm.JAE, x86asm.JB, x86asm.JBE, x86asm.JE, x86asm.JG, x86asm.JGE, x86asm.JL, x86asm.JLE,
	x86asm.JNE, x86asm.JNO, x86asm.JNP, x86asm.JNS, x86asm.JO, x86asm.JP, x86asm.JS, x86asm.LOOPE, x86asm.LOOPNE,
	x86asm.FCMOVB, x86asm.FCMOVBE, x86asm.FCMOVE, x86asm.FCMOVNB, x86asm.FCMOVNBE, x86asm.FCMOVNE, x86asm.FCMOVNU, x86asm.FCMOVU,
	x86asm.SYSCALL, // into R11
)

func ops(list ...x86asm.Op) map[x86asm.Op]bool {
	m := make(map[x86asm.Op]bool, len(list))
	for _, op := range list {
		m[op] = true
	}
	return m
}

// mentions reports whether one of an instruction's operands is, or is addressed by, part of
// a register.
func mentions(in *instruction, reg x86asm.Reg) bool {
	return slices.ContainsFunc(in.Args[:], func(arg x86asm.Arg) bool {
		switch a := arg.(type) {
		case x86asm.Reg:
			return wide(a) == reg
		case x86asm.Mem:
			return wide(a.Base) == reg || wide(a.Index) == reg
		}
		return false
	})
}

// uses reports whether an instruction may read a register.
func uses(in *instruction, reg x86asm.Reg) bool {
	switch in.Op {
	case x86asm.RET, x86asm.UD2, x86asm.NOP: // a NOP's operand is padding
		return false
	case x86asm.INT:
		return in.Args[0] != x86asm.Imm(3)
	case x86asm.SYSCALL: // six arguments, in whatever registers the kernel likes
		return true
	case x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE, x86asm.JCXZ, x86asm.JECXZ, x86asm.JRCXZ:
		return reg == x86asm.RCX
	case x86asm.CALL, x86asm.JMP, x86asm.PUSH, x86asm.POP:
		return mentions(in, reg) // of a call's arguments see ends
	}
	if _, jump := in.Args[0].(x86asm.Rel); jump {
		return false
	}
	if in.opaque {
		return true
	}
	if !isExplicit(in) {
		return mentions(in, reg) || reg <= x86asm.RDI && reg >= x86asm.RAX // AX, CX, DX, BX, SP, BP, SI, DI
	}
	return mentions(in, reg) && !overwrites(in, reg)
}

// isExplicit reports whether an instruction's operands say all that it reads and writes, besides
// flags and memory. IMUL of one operand multiplies AX.
func isExplicit(in *instruction) bool {
	return explicit[in.Op] || in.Op == x86asm.IMUL && in.Args[1] != nil
}

// overwrites reports whether an instruction writes all of a register and does not read it.
func overwrites(in *instruction, reg x86asm.Reg) bool {
	dst, ok := in.Args[0].(x86asm.Reg)
	if !ok || in.opaque || wide(dst) != reg || !isWhole(dst) {
		return false
	}
	if src, ok := in.Args[1].(x86asm.Reg); ok && in.Op == x86asm.XOR && src == dst {
		return true
	}
	if !overwriting[in.Op] {
		return false
	}
	rest := *in
	rest.Args[0] = nil
	return !mentions(&rest, reg)
}

// isWhole reports whether writing a register leaves nothing of what its 64 bits were: writing
// the low half clears the high one.
func isWhole(reg x86asm.Reg) bool { return reg >= x86asm.EAX && reg <= x86asm.R15 }

// writesFlags reports whether nothing that was in the flags is there behind an instruction.
func writesFlags(in *instruction) bool { return !in.opaque && setFlags[in.Op] }

// changesFlags reports whether an instruction may leave other flags than it found.
func changesFlags(in *instruction) bool { return !in.opaque && !keepFlags[in.Op] }

// readsFlags reports whether an instruction may depend on the flags it finds.
func readsFlags(in *instruction) bool { return in.opaque || flagsRead[in.Op] }
