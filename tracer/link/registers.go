package link

import "golang.org/x/arch/x86/x86asm"

// registers are the addresses that 64-bit registers are known to hold: those loaded relative
// to the program counter, and copies of them.
type registers map[x86asm.Reg]uint64

func (x86) walk(entry uint64, text []byte, known around, found func(s step, pcs []uint64)) {
	f := newFlow(entry, text, known)
	var pcs []uint64
	f.pass(func(at int, in *x86asm.Inst, v *values) {
		if in.Len == 0 {
			return
		}
		pc := entry + uint64(at)
		pcs = append(pcs, pc)
		s := v.step(in, pc)
		if s != (step{}) {
			found(s, pcs)
		}
	})
}

// step returns what an instruction does that may concern a marker.
func (v *values) step(in *x86asm.Inst, pc uint64) (s step) {
	to, relative := pcRelative(in, pc)
	switch {
	case relative && in.Op == x86asm.LEA:
		s.address = to
	case relative && in.MemBytes == 4:
		s.reads = to
	}
	if addr, ok := v.address(in.Args[1]); ok && in.MemBytes == 4 && in.Op == x86asm.MOV {
		s.reads = addr
	}
	if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op == x86asm.CALL {
		s.calls = pc + uint64(in.Len) + uint64(int64(rel))
		s.receiver, s.second = v.registers[x86asm.RAX], v.registers[x86asm.RBX]
	}
	if imm, ok := in.Args[1].(x86asm.Imm); ok && in.Op == x86asm.MOV {
		s.constant = uint64(imm)
	}
	if addr, ok := v.address(in.Args[0]); ok && writes(in) {
		s.writes, s.size = addr, uint64(in.MemBytes)
		s.word, _ = v.stored(in)
	}
	return s
}

// follow notes what one instruction does. What it does not know it forgets.
func (r registers) follow(inst *x86asm.Inst, to uint64, relative bool) {
	dst, isReg := inst.Args[0].(x86asm.Reg)
	switch inst.Op {
	case x86asm.LEA:
		if relative && isReg {
			r[dst] = to
			return
		}
	case x86asm.MOV:
		if src, ok := inst.Args[1].(x86asm.Reg); ok && isReg {
			if addr, ok := r[src]; ok {
				r[dst] = addr
				return
			}
		}
	case x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.PUSH, x86asm.UCOMISS, x86asm.UCOMISD:
		return
	case x86asm.CALL, x86asm.RET, x86asm.JMP, x86asm.XCHG, x86asm.XADD, x86asm.CMPXCHG, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B,
		x86asm.MUL, x86asm.IMUL, x86asm.DIV, x86asm.IDIV, x86asm.CDQ, x86asm.CQO, x86asm.CWDE, x86asm.CDQE, x86asm.CWD, x86asm.CBW,
		x86asm.CPUID, x86asm.RDTSC, x86asm.RDTSCP, x86asm.XGETBV, x86asm.SYSCALL,
		x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ,
		x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ:
		// x86asm.MOVSD is the string move; the scalar one is MOVSD_XMM.
		clear(r)
		return
	}
	if isReg {
		delete(r, wide(dst))
	}
}

// wide returns the 64-bit register that reg is part of, reg itself for others.
func wide(reg x86asm.Reg) x86asm.Reg {
	switch {
	case reg >= x86asm.AL && reg <= x86asm.BL:
		return x86asm.RAX + (reg - x86asm.AL)
	case reg >= x86asm.AH && reg <= x86asm.BH:
		return x86asm.RAX + (reg - x86asm.AH)
	case reg >= x86asm.SPB && reg <= x86asm.R15B:
		return x86asm.RSP + (reg - x86asm.SPB)
	case reg >= x86asm.AX && reg <= x86asm.R15W:
		return x86asm.RAX + (reg - x86asm.AX)
	case reg >= x86asm.EAX && reg <= x86asm.R15L:
		return x86asm.RAX + (reg - x86asm.EAX)
	}
	return reg
}

// pcRelative returns the address that an instruction's memory operand denotes, when it is
// relative to the program counter.
func pcRelative(inst *x86asm.Inst, pc uint64) (uint64, bool) {
	for _, arg := range inst.Args {
		if mem, ok := arg.(x86asm.Mem); ok && mem.Base == x86asm.RIP && mem.Index == 0 && mem.Segment == 0 {
			// x86asm returns the 32-bit displacement without its sign.
			return pc + uint64(inst.Len) + uint64(int64(int32(uint32(mem.Disp)))), true
		}
	}
	return 0, false
}
