package bpf

import (
	"runtime"

	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// stackSteps is where compute keeps numbers, upwards: the end of the stack, which values, texts,
// keys and conditions leave free.
const stackSteps = -512

// compute leaves in R0 what the steps leave. check is as number's.
func (a *traceProgram) compute(steps location.Program, check func()) {
	depth := 0 // numbers; the topmost is in R0, those below it on the stack
	slot := func(i int) int16 { return stackSteps + int16(8*i) }
	machine := Machine(runtime.GOARCH)
	for _, s := range steps {
		switch {
		case s.Op == location.Push || s.Op == location.Register:
			if depth > 0 {
				a.emit(asm.StoreMem(asm.RFP, slot(depth-1), asm.R0, asm.DWord))
			}
			depth++
			if s.Op == location.Push {
				a.emit(asm.LoadImm(asm.R0, s.Arg, asm.DWord))
				continue
			}
			at, _ := dwarfRegister(machine, s.Arg) // ComputedValue has seen to it
			a.emit(asm.LoadMem(asm.R0, asm.R6, at, asm.DWord))
		case s.Op == location.Deref:
			a.emit(asm.Mov.Reg(asm.R3, asm.R0))
			a.read(stackScratch, int(s.Arg))
			if check != nil {
				check()
			}
			a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, wordAt(int(s.Arg))))
		case s.Op.Unary():
			a.emit(asm.Xor.Imm(asm.R0, -1))
			if s.Op == location.Neg {
				a.emit(asm.Add.Imm(asm.R0, 1))
			}
		default:
			depth--
			a.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.LoadMem(asm.R0, asm.RFP, slot(depth-1), asm.DWord))
			a.binary(s.Op)
		}
	}
}

// binary leaves R0 op R1 in R0.
func (a *traceProgram) binary(op location.Op) {
	alu := map[location.Op]asm.ALUOp{
		location.Add: asm.Add, location.Sub: asm.Sub, location.Mul: asm.Mul, location.And: asm.And, location.Or: asm.Or,
		location.Xor: asm.Xor, location.Shl: asm.LSh, location.Shr: asm.RSh, location.Sar: asm.ArSh,
	}
	if o, ok := alu[op]; ok {
		a.emit(o.Reg(asm.R0, asm.R1))
		return
	}
	jump := map[location.Op]asm.JumpOp{location.Less: asm.JSLT, location.LessEqual: asm.JSLE, location.Equal: asm.JEq, location.NotEqual: asm.JNE}[op]
	holds := a.unique()
	a.emit(asm.Mov.Reg(asm.R2, asm.R0), asm.Mov.Imm(asm.R0, 1), jump.Reg(asm.R2, asm.R1, holds), asm.Mov.Imm(asm.R0, 0))
	a.label("%s", holds)
}
