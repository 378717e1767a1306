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
	adjacent         bool         // with nothing in between
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
		if f.targets[in.at] {
			return p, "a jump leads into it"
		}
		if p.test != nil {
			switch in.Op {
			case x86asm.JE, x86asm.JNE:
				p.jump, p.jumpsWhenOff = in, in.Op == x86asm.JE
				p.adjacent = adjacent(p.load, p.test, p.jump)
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

func adjacent(load, test, jump *instruction) bool {
	return (load == test || load.end() == test.at) && test.end() == jump.at
}

func hasLock(in *x86asm.Inst) bool {
	for _, p := range in.Prefix {
		if p&^x86asm.PrefixImplicit == x86asm.PrefixLOCK {
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

// maxWalk bounds the instructions looked at behind one branch.
const maxWalk = 4096

// unusedBehind returns why the loaded register or the test's flags may be used behind the
// branch, "" when neither is, on any path.
func (f *function) unusedBehind(jump *instruction, reg x86asm.Reg) string {
	type place struct {
		at         int
		reg, flags bool // still to be followed
	}
	target, ok := f.targetOf(jump)
	if !ok {
		return "its branch leaves the function"
	}
	todo := []place{{jump.end(), reg != 0, true}, {target, reg != 0, true}}
	seen := make(map[place]bool)
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for (p.reg || p.flags) && !seen[p] {
			seen[p] = true
			if len(seen) > maxWalk {
				return "too much code behind its branch"
			}
			i, ok := f.index[p.at]
			if !ok {
				return "its branch leaves the function"
			}
			in := &f.insts[i]
			if p.flags && readsFlags(in) {
				return "its flags are used once more"
			}
			if p.reg && uses(in, reg) {
				return "its value is used behind the branch"
			}
			// A call, and a return, end both: no register but the stack's keeps its value over a
			// call in Go's internal ABI, and an armed word is nobody's argument or result, for
			// the package that reads it compares it with zero and nothing else.
			if in.Op == x86asm.RET || in.Op == x86asm.CALL || in.Op == x86asm.UD2 || in.Op == x86asm.INT {
				break
			}
			p.reg = p.reg && !overwrites(in, reg)
			p.flags = p.flags && !writesFlags(in)
			next := in.end()
			if _, relative := in.Args[0].(x86asm.Rel); relative {
				to, ok := f.targetOf(in)
				switch {
				case in.Op == x86asm.JMP && !ok:
					if p.reg || p.flags {
						return "it may be used behind a jump to another function"
					}
				case in.Op == x86asm.JMP:
					next = to
				case !ok:
					return "a branch behind it leaves the function"
				default:
					todo = append(todo, place{to, p.reg, p.flags})
				}
			} else if in.Op == x86asm.JMP && (p.reg || p.flags) {
				return "it may be used behind a computed jump"
			}
			p.at = next
		}
	}
	return ""
}

func (f *function) targetOf(jump *instruction) (int, bool) {
	rel, ok := jump.Args[0].(x86asm.Rel)
	to := jump.end() + int(rel)
	_, known := f.index[to]
	return to, ok && known
}
