package link

import (
	"maps"

	"golang.org/x/arch/x86/x86asm"
)

// Addresses that no program has stand for memory whose address is known at run time only.
const (
	closureMemory = 1<<63 | 1<<62 // the closure that the function is called with: Go passes it in RDX
	stackMemory   = 1 << 63       // plus an offset from RSP, which is constant in a function's body
	loadedMemory  = 1<<62 | 1<<61 // plus an offset from RSP: where a word of the stack points to
	returned      = 1 << 62       // plus an offset in the function: where the result of the call there points to

	middle = 1 << 40 // is added to offsets, some of which are negative
	apart  = 20      // offsets that stand for different memory are shifted by so many bits
)

// values are the addresses that registers and words of the stack are known to hold.
type values struct {
	registers registers
	stack     map[int64]uint64 // by the offset from RSP
}

// maxStack bounds the words of the stack that are followed at once.
const maxStack = 64

func newValues() *values { return &values{make(registers), make(map[int64]uint64)} }

func (v *values) clone() *values { return &values{maps.Clone(v.registers), maps.Clone(v.stack)} }

// meet forgets what w does not know alike, and reports whether there was anything.
func (v *values) meet(w *values) (forgot bool) {
	n := len(v.registers) + len(v.stack)
	maps.DeleteFunc(v.registers, func(r x86asm.Reg, to uint64) bool { known, ok := w.registers[r]; return !ok || known != to })
	maps.DeleteFunc(v.stack, func(at int64, to uint64) bool { known, ok := w.stack[at]; return !ok || known != to })
	return n != len(v.registers)+len(v.stack)
}

// flow finds the addresses that registers hold at each instruction of a function, on all paths that
// lead there. Too little known costs a marker its types at one site, too much would give it another's.
type flow struct {
	entry   uint64
	text    []byte
	in      map[int]*values // known at each target of a jump; nil until a path to it was followed
	unknown bool            // it jumps to places that its code does not name, such as those of a jump table
	pointed int64           // words of the stack from this offset on can be changed through pointers
	known   around
}

// maxPasses bounds how often a function is followed until nothing changes.
const maxPasses = 16

func newFlow(entry uint64, text []byte, known around) *flow {
	f := &flow{entry: entry, text: text, in: make(map[int]*values), pointed: middle, known: known}
	checked := false // its stack, against the goroutine's limit
	n := 0
	f.each(func(at int, in *x86asm.Inst) {
		rel, direct := in.Args[0].(x86asm.Rel)
		mem, _ := in.Args[1].(x86asm.Mem)
		switch {
		case in.Op == x86asm.JMP && !direct:
			f.unknown = true
		case direct && in.Op != x86asm.CALL:
			f.in[at+in.Len+int(rel)] = nil
		case in.Op == x86asm.CMP && mem.Base == x86asm.R14 && n < 2:
			checked = true
		case in.Op == x86asm.LEA && mem.Base == x86asm.RSP && n > 0: // the first is part of the check
			f.pointed = min(f.pointed, displacement(mem))
		}
		n++
	})
	if checked { // a jump to the entry comes from morestack, which preserves RDX
		delete(f.in, 0)
	}
	f.solve()
	return f
}

// each decodes all instructions, one by one because functions can be large. One without a length
// stands for a byte that is part of none.
func (f *flow) each(found func(at int, in *x86asm.Inst)) {
	for at := 0; at < len(f.text); {
		in, err := x86asm.Decode(f.text[at:], 64)
		if err != nil || in.Len == 0 {
			in = x86asm.Inst{}
		}
		found(at, &in)
		at += max(1, in.Len)
	}
}

// solve follows the function until no path adds anything. If that takes too long, or if the function
// has jumps to unknown places, nothing is known at any target.
func (f *flow) solve() {
	for range maxPasses {
		if f.unknown {
			break
		}
		if f.pass(nil) {
			continue
		}
		missed := false
		for at, in := range f.in {
			if in == nil { // no path from the entry leads there
				f.in[at], missed = newValues(), true
			}
		}
		if !missed {
			return
		}
	}
	f.unknown = true
	for at := range f.in {
		f.in[at] = newValues()
	}
}

// pass follows the instructions in the order of their addresses, and reports whether it changed what is
// known at a target. It calls found, if it is not nil, with each instruction and the values before it.
func (f *flow) pass(found func(at int, in *x86asm.Inst, v *values)) (changed bool) {
	v := newValues() // nil in blocks that no path was followed to yet
	v.registers[x86asm.RDX] = closureMemory
	ended := false // by the instruction before
	f.each(func(at int, in *x86asm.Inst) {
		known, target := f.in[at]
		switch {
		case target && known == nil && v != nil:
			f.in[at], changed = v.clone(), true
		case target && known != nil:
			changed = v != nil && known.meet(v) || changed
			v = known.clone()
		case !target && ended: // reached in ways that the code does not name, such as after a panic
			v = newValues()
		}
		if ended = ends(in); v == nil {
			return
		}
		if found != nil {
			found(at, in, v)
		}
		if rel, ok := in.Args[0].(x86asm.Rel); ok && in.Op != x86asm.CALL {
			changed = f.jump(at+in.Len+int(rel), v) || changed
		}
		if f.follow(v, at, in); ended {
			v = nil
		}
	})
	return changed
}

// jump merges the values at a jump into those at its target.
func (f *flow) jump(to int, v *values) (changed bool) {
	known, target := f.in[to]
	switch {
	case !target:
		return false
	case known == nil:
		f.in[to] = v.clone()
		return true
	}
	return known.meet(v)
}

// ends reports whether only jumps lead to the instruction after this one.
func ends(in *x86asm.Inst) bool {
	switch in.Op {
	case x86asm.JMP, x86asm.RET, x86asm.UD1, x86asm.UD2, x86asm.INT:
		return true
	}
	return false
}

// follow notes what an instruction does to registers and the stack.
func (f *flow) follow(v *values, at int, in *x86asm.Inst) {
	if in.Len == 0 {
		clear(v.registers)
		clear(v.stack)
		return
	}
	to, relative := pcRelative(in, f.entry+uint64(at))
	dst, isReg := in.Args[0].(x86asm.Reg)
	addr, known := v.address(in.Args[1])
	switch {
	case known && isReg && in.Op == x86asm.LEA:
		delete(v.registers, wide(dst))
		v.registers[dst] = addr
		return
	case known && isReg && in.Op == x86asm.MOV && in.MemBytes == 8:
		delete(v.registers, wide(dst))
		if word, ok := f.load(v, addr); ok {
			v.registers[dst] = word
		}
		return
	}
	f.store(v, in)
	if rel, direct := in.Args[0].(x86asm.Rel); direct && in.Op == x86asm.CALL && f.known.preserves(f.entry+uint64(at+in.Len+int(rel))) {
		delete(v.registers, x86asm.R11) // the write barrier's result
		return
	}
	v.registers.follow(in, to, relative)
	switch in.Op {
	case x86asm.CALL:
		f.storeSomewhere(v)
		v.registers[x86asm.RAX] = returned + uint64(at)<<apart
	case x86asm.MOVSB, x86asm.MOVSW, x86asm.MOVSD, x86asm.MOVSQ, x86asm.STOSB, x86asm.STOSW, x86asm.STOSD, x86asm.STOSQ:
		f.storeSomewhere(v)
	}
}

// displacement returns that of a memory operand, which x86asm returns without its sign if it has 32 bits.
func displacement(mem x86asm.Mem) int64 { return int64(int32(uint32(mem.Disp))) }

// address returns the address that an operand denotes in memory, if it is relative to a register.
func (v *values) address(arg x86asm.Arg) (uint64, bool) {
	mem, ok := arg.(x86asm.Mem)
	if !ok || mem.Index != 0 || mem.Segment != 0 || mem.Base == x86asm.RIP || mem.Base == 0 {
		return 0, false
	}
	if mem.Base == x86asm.RSP {
		return stackMemory + middle + uint64(displacement(mem)), true
	}
	base, ok := v.registers[mem.Base]
	return base + uint64(displacement(mem)), ok
}

// onFrame returns the offset from RSP of an address, if it is of the stack.
func onFrame(addr uint64) (at int64, ok bool) {
	at = int64(addr - stackMemory - middle)
	return at, at >= -1<<31 && at < 1<<31
}

// load returns the word at an address, if it is known.
func (f *flow) load(v *values, addr uint64) (word uint64, ok bool) {
	if at, ok := onFrame(addr); ok {
		if word, ok := v.stack[at]; ok {
			return word, true
		}
		return loadedMemory + uint64(at+1<<31)<<apart, true
	}
	if off := addr - closureMemory; off < maxCaptured*8 {
		word, ok = f.known.closure[off]
		return word, ok
	}
	return f.known.constant(addr)
}

// store notes what an instruction may write to the stack.
func (f *flow) store(v *values, in *x86asm.Inst) {
	if !writes(in) {
		return
	}
	addr, _ := v.address(in.Args[0])
	at, ok := onFrame(addr)
	if !ok {
		f.storeSomewhere(v)
		return
	}
	for near := at - 7; near < at+int64(in.MemBytes); near++ {
		delete(v.stack, near)
	}
	if word, ok := v.stored(in); ok && len(v.stack) < maxStack {
		v.stack[at] = word
	}
}

// writes reports whether an instruction may write to the memory that its first operand denotes, other than a
// variable's of the program.
func writes(in *x86asm.Inst) bool {
	mem, isMemory := in.Args[0].(x86asm.Mem)
	return isMemory && mem.Base != x86asm.RIP && in.Op != x86asm.CMP && in.Op != x86asm.TEST && in.Op != x86asm.NOP
}

// storeSomewhere notes a store whose address is not known.
func (f *flow) storeSomewhere(v *values) {
	maps.DeleteFunc(v.stack, func(at int64, _ uint64) bool { return at >= f.pointed })
}

// stored returns the address that an instruction stores in memory.
func (v *values) stored(in *x86asm.Inst) (word uint64, ok bool) {
	if src, isReg := in.Args[1].(x86asm.Reg); isReg && in.Op == x86asm.MOV && in.MemBytes == 8 {
		word, ok = v.registers[src]
	}
	return word, ok
}
