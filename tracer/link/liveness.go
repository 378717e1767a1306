package link

import "golang.org/x/arch/x86/x86asm"

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
			if (in.Op == x86asm.RET || in.Op == x86asm.CALL) && f.byHand(f.entry) {
				return "an assembly function may hand it on"
			}
			if p.flags && readsFlags(in) {
				return "its flags are used once more"
			}
			if p.reg && uses(in, reg) {
				return "its value is used behind the branch"
			}
			if f.ends(in) {
				break
			}
			p.reg = p.reg && !overwrites(in, reg)
			p.flags = p.flags && !writesFlags(in)
			next := in.end()
			if _, relative := in.Args[0].(x86asm.Rel); relative {
				to, ok := f.targetOf(in)
				switch {
				case in.Op == x86asm.CALL: // and comes back
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

// ends reports whether nothing behind an instruction sees registers and flags as they were.
//
// To the compiler every function may write every register but the stack's, and an armed word is
// nobody's argument or result, for the package that reads it compares it with zero and nothing else.
// Functions in assembly keep to neither, the runtime's write barrier and duffzero for two: registers
// survive a call of them.
func (f *function) ends(in *instruction) bool {
	switch in.Op {
	case x86asm.RET, x86asm.UD2:
		return true
	case x86asm.INT:
		return in.Args[0] == x86asm.Imm(3)
	case x86asm.CALL:
		rel, direct := in.Args[0].(x86asm.Rel)
		return !direct || !f.byHand(f.entry+uint64(in.end()+int(rel)))
	}
	return false
}
