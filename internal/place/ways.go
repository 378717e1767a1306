package place

import (
	"cmp"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// Ways are the ways that control takes through a function, and which registers its instructions write.
type Ways struct {
	order  []uint64 // addresses of instructions, ascending
	loaded []loaded
	// Which of them write each register, by DWARF's numbers.
	writes [16][]int
	falls  []bool
	jumps  []jump // ascending by target
}

type jump struct{ from, to uint64 }

func (fl *flow) everyWay() *Ways {
	w := &Ways{order: fl.order}
	for i, at := range fl.order {
		in := fl.code[at]
		for r := range w.writes {
			if in.writes&(1<<r) != 0 {
				w.writes[r] = append(w.writes[r], i)
			}
		}
		w.loaded = append(w.loaded, in.loaded)
		w.falls = append(w.falls, in.falls)
	}
	for to, from := range fl.into {
		for _, at := range from {
			w.jumps = append(w.jumps, jump{at, to})
		}
	}
	slices.SortFunc(w.jumps, func(a, b jump) int {
		if a.to != b.to {
			return cmp.Compare(a.to, b.to)
		}
		return cmp.Compare(a.from, b.from)
	})
	return w
}

// Into calls visit for each jump that leads to an address of [low, high), until it returns false.
func (w *Ways) Into(low, high uint64, visit func(from uint64) bool) {
	i, _ := slices.BinarySearchFunc(w.jumps, low, func(j jump, a uint64) int { return cmp.Compare(j.to, a) })
	for ; i < len(w.jumps) && w.jumps[i].to < high; i++ {
		if !visit(w.jumps[i].from) {
			return
		}
	}
}

// Before returns the instruction that an address is come to from, without a jump.
func (w *Ways) Before(address uint64) (at uint64, ok bool) {
	i, found := slices.BinarySearch(w.order, address)
	if !found || i == 0 || !w.falls[i-1] {
		return 0, false
	}
	return w.order[i-1], true
}

// Writes reports whether an instruction of [low, high] writes a register, by DWARF's number: 0 to 15.
func (w *Ways) Writes(register uint, low, high uint64) bool {
	if register >= uint(len(w.writes)) {
		return false
	}
	first, _ := slices.BinarySearch(w.order, low)
	i, _ := slices.BinarySearch(w.writes[register], first)
	return i < len(w.writes[register]) && w.order[w.writes[register][i]] <= high
}

// Repeats reports whether a jump leads back over an address, as in a loop.
func (w *Ways) Repeats(address uint64) bool {
	for _, j := range w.jumps {
		if j.to > address {
			break
		}
		if address <= j.from {
			return true
		}
	}
	return false
}

// Loaded returns what the last instruction that writes a register, up to one at an address and without regard to jumps, leaves
// in it: what another register has, or, when that is Constant, a value. ok is false for all else.
func (w *Ways) Loaded(register uint, until uint64) (from uint, value int64, ok bool) {
	if register >= uint(len(w.writes)) {
		return 0, 0, false
	}
	behind, found := slices.BinarySearch(w.order, until)
	if found {
		behind++
	}
	i, _ := slices.BinarySearch(w.writes[register], behind)
	if i == 0 {
		return 0, 0, false
	}
	l := w.loaded[w.writes[register][i-1]]
	return l.from, l.value, l.known
}

// Constant is no register's number.
const Constant = 16

// loaded is what an instruction loads its first operand, a register, with.
type loaded struct {
	from  uint
	value int64
	known bool
}

func loads(inst *x86asm.Inst) loaded {
	to, ok := inst.Args[0].(x86asm.Reg)
	if !ok || registerBit(to) == 0 {
		return loaded{}
	}
	switch inst.Op {
	case x86asm.MOV, x86asm.MOVSX, x86asm.MOVSXD, x86asm.MOVZX:
		switch from := inst.Args[1].(type) {
		case x86asm.Reg:
			if n, ok := dwarfRegister(from); ok {
				return loaded{from: uint(n), known: true}
			}
		case x86asm.Imm:
			return loaded{from: Constant, value: int64(from), known: true}
		}
	case x86asm.XOR:
		return loaded{from: Constant, known: inst.Args[1] == inst.Args[0]}
	}
	return loaded{}
}

// registerBit returns a general register, or the one that it is a part of, as a bit; 0 for others.
func registerBit(r x86asm.Reg) uint32 {
	if r >= x86asm.AH && r <= x86asm.BH {
		r = r - x86asm.AH + x86asm.AL
	}
	n, ok := dwarfRegister(r)
	if !ok {
		return 0
	}
	return 1 << n
}

const (
	rax, rdx, rcx, rsi, rdi = 1 << 0, 1 << 1, 1 << 2, 1 << 4, 1 << 5

	allRegisters = 1<<16 - 1
	// called are the registers that a function may leave changed: x86-64 psABI, figure 3.4.
	called = rax | rdx | rcx | rsi | rdi | 1<<8 | 1<<9 | 1<<10 | 1<<11
)

// writes returns which general registers an instruction may write: all, where it does not know.
func writes(inst *x86asm.Inst) uint32 {
	var first, second uint32
	if r, ok := inst.Args[0].(x86asm.Reg); ok {
		first = registerBit(r)
	}
	if r, ok := inst.Args[1].(x86asm.Reg); ok {
		second = registerBit(r)
	}
	switch inst.Op {
	case x86asm.CMP, x86asm.TEST, x86asm.NOP, x86asm.PUSH, x86asm.JMP, x86asm.BT:
		return 0
	case x86asm.CALL, x86asm.SYSCALL:
		return called
	case x86asm.XCHG, x86asm.XADD:
		return first | second
	case x86asm.CMPXCHG:
		return first | rax
	case x86asm.MUL, x86asm.DIV, x86asm.IDIV, x86asm.CDQ, x86asm.CQO, x86asm.CWD:
		return rax | rdx
	case x86asm.IMUL:
		if inst.Args[1] == nil {
			return rax | rdx
		}
		return first
	case x86asm.CDQE, x86asm.CWDE, x86asm.CBW:
		return 0 // it has what it had, with its sign
	case x86asm.MOVSX, x86asm.MOVSXD, x86asm.MOVZX:
		if first == second {
			return 0
		}
	case x86asm.CPUID, x86asm.RDTSC, x86asm.RDTSCP, x86asm.XGETBV, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B, x86asm.LEAVE:
		return allRegisters
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ,
		x86asm.LODSB, x86asm.LODSW, x86asm.LODSD, x86asm.LODSQ, x86asm.CMPSB, x86asm.CMPSW, x86asm.CMPSD, x86asm.CMPSQ,
		x86asm.SCASB, x86asm.SCASW, x86asm.SCASD, x86asm.SCASQ:
		return rsi | rdi | rcx | rax
	}
	return first
}
