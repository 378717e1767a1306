package place

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/variable"
)

// ahead returns what is executed ahead of the candidate, of so many.
func (j *judge) ahead(all int) (a variable.Ahead) {
	if j.opaque || j.ways(j.address) > maxJumps {
		return a
	}
	a.From = slices.Clone(j.into[j.address])
	in := j.before(j.address)
	if in == nil || !in.falls {
		return a
	}
	a.From = append(a.From, in.address)
	if len(a.From) > 1 || in.code == nil {
		return a
	}
	inst, err := in.decoded()
	if err != nil {
		return a
	}
	if inst.Op == x86asm.CALL {
		a.Changes, a.Fresh = called, rax
		return a
	}
	reg, ok := inst.Args[0].(x86asm.Reg)
	to, known := dwarfRegister(reg)
	if !ok || !known || leaves[inst.Op] {
		return a
	}
	a.Changes = 1 << to
	a.Statement = j.lines != nil && !tooMany(len(j.lines.Rows), all) && j.isStatement(in)
	switch inst.Op {
	case x86asm.MOV, x86asm.MOVSXD, x86asm.MOVSX, x86asm.MOVZX:
	default:
		return a
	}
	switch from := inst.Args[1].(type) {
	case x86asm.Reg:
		if n, known := dwarfRegister(from); known && (inst.Op == x86asm.MOV || inst.Op == x86asm.MOVSXD) {
			a.Copies, a.Of, a.To = true, n, to
		}
	case x86asm.Mem:
		if !isFrame(from) {
			a.Fresh = a.Changes
		}
	}
	return a
}

// isStatement reports whether an instruction is of a statement that is executed ahead of the marker, as a whole: one on a line
// above, or one that reads memory, which is not moved across. Not one with a condition: the head of a loop has that, and its
// increment may be computed ahead.
func (j *judge) isStatement(in *instruction) bool {
	file, line := j.line(in.address)
	if file < 0 || j.lines.Names[file] != j.file || line == 0 || line == j.mark.Line || j.fn.At(in.address).Function() != j.fn.At(j.address).Function() {
		return false
	}
	if line > j.mark.Line && !j.reads(in, line) {
		return false
	}
	rows, looks := j.lines.Rows, 2*len(j.order)
	for i := range rows {
		r := &rows[i]
		if r.End || int(r.File) != file || int(r.Line) != line || i+1 == len(rows) || !j.has(r.Address) {
			continue
		}
		for _, at := range j.covered(i, &looks) {
			if in := j.code[at]; in.jumps && in.falls {
				return false
			}
		}
	}
	return true
}

// reads reports whether an instruction or one right ahead of it, of the same line, reads memory.
func (j *judge) reads(in *instruction, line int) bool {
	for range maxStatement {
		inst, err := in.decoded()
		if err != nil || in.jumps || !in.falls {
			return false
		}
		if mem, ok := inst.Args[1].(x86asm.Mem); ok && inst.Op != x86asm.LEA && inst.Op != x86asm.NOP && !isFrame(mem) {
			return true
		}
		if len(j.into[in.address]) > 0 {
			return false
		}
		if in = j.before(in.address); in == nil {
			return false
		}
		if _, other := j.line(in.address); other != line {
			return false
		}
	}
	return false
}

// maxStatement bounds the instructions of a statement that are looked at.
const maxStatement = 8

// isFrame reports whether an operand may be what the compiler put aside itself.
func isFrame(m x86asm.Mem) bool { return m.Base == x86asm.RSP || m.Base == x86asm.RBP }

// leaves are instructions that leave their first operand as it is.
var leaves = map[x86asm.Op]bool{x86asm.CMP: true, x86asm.TEST: true, x86asm.BT: true, x86asm.PUSH: true, x86asm.NOP: true}

// dwarfRegister returns the number of the register that one is, or is the lowest part of: AMD64 ABI, figure 3.36.
func dwarfRegister(r x86asm.Reg) (n uint8, known bool) {
	switch {
	case r >= x86asm.AL && r <= x86asm.BL:
		r -= x86asm.AL
	case r >= x86asm.SPB && r <= x86asm.R15B:
		r = r - x86asm.SPB + 4
	case r >= x86asm.AX && r <= x86asm.R15W:
		r -= x86asm.AX
	case r >= x86asm.EAX && r <= x86asm.R15L:
		r -= x86asm.EAX
	case r >= x86asm.RAX && r <= x86asm.R15:
		r -= x86asm.RAX
	default:
		return 0, false
	}
	if r < 8 { // AX CX DX BX SP BP SI DI
		return [...]uint8{0, 2, 1, 3, 7, 6, 4, 5}[r], true
	}
	return uint8(r), true
}
