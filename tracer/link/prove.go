package link

import (
	"golang.org/x/arch/x86/x86asm"
)

// pattern is what the compiler makes of a test of an armed word, proved to be nothing else:
//
//	MOVL word(RIP), R … TESTL R, R … JE/JNE target
//	CMPL $0, word(RIP) … JE/JNE target
type pattern struct {
	load, test, jump *instruction // load and test are one for CMPL
	jumpsWhenOff     bool         // JE
	reg              x86asm.Reg   // that the word is loaded into, all 64 bits of it; 0 for CMPL
	adjacent         bool         // with nothing in between, NOPs aside
	joined           bool         // test and jump are, at least

	// prefixed is that a NOP of one byte stands before, which the compiler puts in front of inlined calls, and
	// that nothing jumps behind it: the site can begin there, with a prefix.
	prefixed bool

	// behind is the JMP that follows a JNE, nil for none.
	behind *instruction
}

func (p *pattern) begin() int {
	if p.prefixed {
		return p.load.at - 1
	}
	return p.load.at
}

// prove returns the pattern that begins with instruction i of f, which reads an armed word, or why
// what stands there cannot be rewritten.
func (f *function) prove(i int) (p pattern, why string) {
	p.load = &f.insts[i]
	var reg x86asm.Reg
	switch in := p.load; {
	case in.opaque:
		return p, "an instruction that link does not know"
	case in.Op == x86asm.MOV && in.MemBytes == 4:
		dst, ok := in.Args[0].(x86asm.Reg)
		if !ok {
			return p, "it is not only read there"
		}
		reg = wide(dst)
	case in.Op == x86asm.CMP && in.MemBytes == 4 && in.Args[1] == x86asm.Imm(0):
		p.test = in
	default:
		return p, "not a plain load of it: " + in.Op.String()
	}
	if hasLock(&p.load.Inst) {
		return p, "a locked instruction"
	}
	for j := i + 1; ; j++ {
		if j == len(f.insts) {
			return p, "the function ends before a branch"
		}
		in := &f.insts[j]
		if p.test != nil {
			switch in.Op {
			case x86asm.JE, x86asm.JNE:
				p.jump, p.jumpsWhenOff = in, in.Op == x86asm.JE
				if f.entered(p.load.at, p.jump.end()) {
					return p, "a jump leads into it"
				}
				p.reg = reg
				p.joined = f.onlyNOPs(p.test, p.jump)
				p.adjacent = p.joined && f.onlyNOPs(p.load, p.test)
				p.prefixed = p.adjacent && i > 0 && !f.targets[p.load.at] && f.text[p.load.at-1] == nops[1][0] && f.insts[i-1].Len == 1
				if next := j + 1; !p.jumpsWhenOff && next < len(f.insts) && f.insts[next].Op == x86asm.JMP {
					p.behind = &f.insts[next]
				}
				return p, f.unusedBehind(p.jump, reg)
			}
		}
		switch {
		case in.Op == x86asm.NOP: // its operand is padding
		case in.opaque || !isExplicit(in):
			return p, "followed by " + in.name() + " before a branch"
		case p.test == nil && isTestOf(in, reg):
			p.test = in
		case reg != 0 && mentions(in, reg):
			return p, "its value is used"
		case p.test != nil && readsFlags(in):
			return p, "its flags are used once more"
		case p.test != nil && changesFlags(in):
			return p, "its flags are changed before the branch"
		}
	}
}

func (i *instruction) name() string {
	if i.opaque {
		return "an instruction that link does not know"
	}
	return i.Op.String()
}

// entered reports whether a jump of the function leads behind begin and before end, be it
// into the middle of an instruction.
func (f *function) entered(begin, end int) bool {
	for at := begin + 1; at < end; at++ {
		if f.targets[at] {
			return true
		}
	}
	return false
}

// onlyNOPs reports whether two instructions stand together, with nothing in between but the NOPs with
// which compilers pad.
func (f *function) onlyNOPs(a, b *instruction) bool {
	for i := f.index[a.at] + 1; i < f.index[b.at]; i++ {
		if f.insts[i].Op != x86asm.NOP {
			return false
		}
	}
	return true
}

func hasLock(in *x86asm.Inst) bool {
	for _, p := range in.Prefix {
		if byte(p) == byte(x86asm.PrefixLOCK) {
			return true
		}
	}
	return false
}

func isTestOf(in *instruction, reg x86asm.Reg) bool {
	a, ok := in.Args[0].(x86asm.Reg)
	b, ok2 := in.Args[1].(x86asm.Reg)
	return in.Op == x86asm.TEST && ok && ok2 && a == b && wide(a) == reg && a >= x86asm.EAX && a <= x86asm.R15L
}

func (f *function) targetOf(jump *instruction) (int, bool) {
	rel, ok := jump.Args[0].(x86asm.Rel)
	to := jump.end() + int(rel)
	_, known := f.index[to]
	return to, ok && known
}
