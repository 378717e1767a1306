package prog

import (
	"debug/elf"
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// Registers of a trace program: R6 the saved registers of the target, R7 the event, R8 the
// failed bits, R9 the size of a string slot. The stack, never a per-CPU buffer: a probe's
// program can be preempted, and another thread's can then run on the same CPU.
const (
	stackCookie    = -8
	stackScratch   = -16
	stackGoroutine = -24
	stackTime      = -32
	stackGather    = -32 // the body's fixed part lies below
)

// Base is the beginning of all programs of a collection. Its methods generate the rest; they may
// run concurrently.
type Base struct {
	// Switch begins and ends all programs together, nil without one.
	Switch *Switch
	// Admit comes next, and returns from the program in processes that are not traced: see Watch.Admit.
	Admit asm.Instructions
	// Patterns is the descriptor of the map of PatternTables, if some condition compares text.
	Patterns int
	PIDs     *Namespace

	machine elf.Machine
	// record and g are the offsets of the target's registers.
	record, g int16
}

// NewBase returns a Base for a machine, without processes or patterns.
func NewBase(machine elf.Machine) (b Base, err error) {
	b.machine = machine
	b.record, b.g, err = goRegisters(machine)
	return b, err
}

// Means are the facilities that a way of attaching gives to programs.
type Means struct {
	Sleepable bool    // the program may fault the target's pages in
	Exchange  bool    // atomic exchanges (Linux 5.12)
	Cookie    *uint64 // of the only site; nil when the kernel keeps cookies
}

// program is one that is being generated.
type program struct {
	Base
	Means
	Events
	ins     asm.Instructions
	numbers int    // how often process was generated
	next    string // label of the next instruction
	labels  int    // how many unique ones there are
}

func (a *program) emit(ins ...asm.Instruction) {
	for _, in := range ins {
		if a.next != "" {
			in = in.WithSymbol(a.next)
			a.next = ""
		}
		a.ins = append(a.ins, in)
	}
}

// label names the instruction that is emitted next.
func (a *program) label(format string, args ...any) {
	name := fmt.Sprintf(format, args...)
	if a.next != "" {
		a.emit(asm.Ja.Label(name)) // one name an instruction
	}
	a.next = name
}

// unique returns a label that the program does not have yet.
func (a *program) unique() string {
	a.labels++
	return fmt.Sprintf("where%d", a.labels)
}

// to jumps.
func (a *program) to(label string) { a.emit(asm.Ja.Label(label)) }

// loadCookie leaves the cookie in R0.
func loadCookie(ctx asm.Register, known *uint64) asm.Instructions {
	if known != nil {
		return asm.Instructions{asm.LoadImm(asm.R0, int64(*known), asm.DWord)}
	}
	return asm.Instructions{asm.Mov.Reg(asm.R1, ctx), asm.FnGetAttachCookie.Call()}
}

// increment adds one to the element of a per-CPU array whose index is on the stack, and
// returns from the program. The addition is atomic because the program can be preempted
// between a load and a store.
func increment(array int, index int16, out string) asm.Instructions {
	return join(mapArgs(array, index), asm.FnMapLookupElem.Call(), asm.JEq.Imm(asm.R0, 0, out),
		asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
		asm.Mov.Imm(asm.R0, 0).WithSymbol(out), asm.Return())
}

// mapArgs loads the first arguments of the functions of maps: the map, and the key in a stack slot.
func mapArgs(m int, key int16) asm.Instructions {
	return asm.Instructions{asm.LoadMapPtr(asm.R1, m), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, int32(key))}
}

// process leaves process and thread in R0, as this process's namespace counts them.
func (a *program) process() {
	if a.PIDs.Level == 0 {
		a.emit(asm.FnGetCurrentPidTgid.Call())
		return
	}
	if a.PIDs.Types != nil {
		a.numbers++ // a program may ask twice
		a.emit(a.PIDs.currentNumber(true, fmt.Sprintf("process%d", a.numbers))...)
		a.emit(asm.LSh.Imm(asm.R0, 32), asm.StoreMem(asm.RFP, stackOther, asm.R0, asm.DWord))
		a.emit(a.PIDs.currentNumber(false, fmt.Sprintf("thread%d", a.numbers))...)
		a.emit(asm.LoadMem(asm.R1, asm.RFP, stackOther, asm.DWord), asm.Or.Reg(asm.R0, asm.R1))
		return
	}
	// struct bpf_pidns_info is the thread's number, then the process's: on a little-endian
	// machine, as the ones that programs are made for are, just what the event holds.
	a.emit(asm.LoadImm(asm.R1, int64(a.PIDs.Device), asm.DWord), asm.LoadImm(asm.R2, int64(a.PIDs.Inode), asm.DWord),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackScratch), asm.Mov.Imm(asm.R4, 8),
		asm.FnGetNsCurrentPidTgid.Call(),
		asm.LoadMem(asm.R0, asm.RFP, stackScratch, asm.DWord))
}

// load leaves a part that is a number in R0, and calls check as number does.
func (a *program) load(p *Part, check func()) {
	switch p.Source {
	case FromValue:
		a.number(p.Value, check)
	case FromPID, FromTID:
		a.process()
		if p.Source == FromTID {
			a.emit(asm.LSh.Imm(asm.R0, 32))
		}
		a.emit(asm.RSh.Imm(asm.R0, 32))
	case FromCPU:
		a.emit(asm.FnGetSmpProcessorId.Call())
	case FromGoroutine:
		a.emit(asm.LoadMem(asm.R3, asm.R6, a.g, asm.DWord), asm.Add.Imm(asm.R3, int32(p.Goid)))
		a.read(stackScratch, 8)
		check()
		a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, asm.DWord))
	default:
		a.emit(asm.Mov.Imm(asm.R0, 0))
	}
}

// number leaves a value in R0, extended to 64 bits: sites may hold the same number in different
// sizes. check, which may be nil, generates what is done after memory was read, when R0 is zero if it
// could be; the value is zero if not.
func (a *program) number(v Value, check func()) {
	size := int(v.Size)
	switch v.Kind {
	case FromRegister:
		a.emit(asm.LoadMem(asm.R0, asm.R6, v.Base, asm.DWord))
		if v.Shift > 0 {
			a.emit(asm.RSh.Imm(asm.R0, int32(v.Shift)))
		}
	case FromMemory:
		a.address(v)
		a.read(stackScratch, size)
		if check != nil {
			check()
		}
		a.emit(asm.LoadMem(asm.R0, asm.RFP, stackScratch, wordAt(size)))
		if !v.Signed {
			return
		}
	case Computed:
		a.compute(*v.Steps, check)
	default:
		a.emit(asm.LoadImm(asm.R0, v.Disp, asm.DWord))
		return
	}
	if unused := int32(64 - 8*size); unused > 0 {
		right := asm.RSh
		if v.Signed {
			right = asm.ArSh
		}
		a.emit(asm.LSh.Imm(asm.R0, unused), right.Imm(asm.R0, unused))
	}
}

// address leaves the address of a value in R3.
func (a *program) address(v Value) {
	if fitsImmediate(v.Disp) {
		a.emit(asm.Mov.Imm(asm.R3, int32(v.Disp)))
	} else {
		a.emit(asm.LoadImm(asm.R3, v.Disp, asm.DWord))
	}
	if v.Base != noRegister {
		a.emit(asm.LoadMem(asm.R1, asm.R6, v.Base, asm.DWord), asm.Add.Reg(asm.R3, asm.R1))
	}
	if v.Index != noRegister {
		a.emit(asm.LoadMem(asm.R1, asm.R6, v.Index, asm.DWord))
		switch v.Extend {
		case sdt.ZeroExtend:
			a.emit(asm.LSh.Imm(asm.R1, 32), asm.RSh.Imm(asm.R1, 32))
		case sdt.SignExtend:
			a.emit(asm.LSh.Imm(asm.R1, 32), asm.ArSh.Imm(asm.R1, 32))
		}
		a.emit(asm.Mul.Imm(asm.R1, int32(v.Scale)), asm.Add.Reg(asm.R3, asm.R1))
	}
}

// read copies size bytes of the target at R3 to the stack; R0 is negative when they cannot be
// read, and the bytes zero.
func (a *program) read(to int16, size int) {
	a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)), asm.Mov.Imm(asm.R2, int32(size)), a.copier().Call())
}

// copier is the function that copies what R3 points to in the target.
func (a *program) copier() asm.BuiltinFunc {
	if a.Sleepable {
		return asm.FnCopyFromUser
	}
	return asm.FnProbeReadUser
}

// failed sets a bit of R8 when R0 is negative, without a branch: branches multiply the states
// that the verifier walks.
func (a *program) failed(bit int) {
	a.emit(asm.RSh.Imm(asm.R0, 63))
	if bit > 0 {
		a.emit(asm.LSh.Imm(asm.R0, int32(bit)))
	}
	a.emit(asm.Or.Reg(asm.R8, asm.R0))
}

// zero clears 8 bytes, by way of R1.
func (a *program) zero(at asm.Register, offset int16) {
	a.emit(asm.Mov.Imm(asm.R1, 0), asm.StoreMem(at, offset, asm.R1, asm.DWord))
}

// wordAt is the widest access within n bytes.
func wordAt(n int) asm.Size {
	switch {
	case n >= 8:
		return asm.DWord
	case n >= 4:
		return asm.Word
	case n >= 2:
		return asm.Half
	}
	return asm.Byte
}

// stackSteps is where compute keeps numbers, upwards: the end of the stack, which values, texts,
// keys and conditions leave free.
const stackSteps = -512

// compute leaves in R0 what the steps leave. check is that of number.
func (a *program) compute(steps location.Program, check func()) {
	depth := 0 // numbers; the topmost is in R0, those below it on the stack
	slot := func(i int) int16 { return stackSteps + int16(8*i) }
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
			at, _ := dwarfRegister(a.machine, s.Arg) // ComputedValue has seen to it
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
func (a *program) binary(op location.Op) {
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
