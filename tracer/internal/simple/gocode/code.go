package gocode

import "sort"

// Kind is what an instruction does, as far as it matters here.
type Kind uint8

const (
	Plain  Kind = iota // goes on behind it
	Nop                // does nothing
	Check              // reads memory to see whether it may
	Store              // writes memory that is not on the stack
	Branch             // may go on at its target
	Jump               // goes on at its target, or nobody knows where
	Call
	Return
	Trap // does not go on
)

// Instruction is one instruction of an executable. A target of 0 is not known.
type Instruction struct {
	Addr   uint64
	Len    int
	Kind   Kind
	Target uint64
}

func (i *Instruction) end() uint64 { return i.Addr + uint64(i.Len) }

// Decoder decodes the instruction at the start of text, which is at addr. It reports false for
// one that it does not know.
type Decoder func(text []byte, addr uint64) (Instruction, bool)

// code is a function, decoded.
type code struct {
	insts   []Instruction
	targets map[uint64][]int // where its jumps lead: the indexes of those jumps
	byTable []int            // the jumps of which nobody knows where they lead
}

// decode decodes a function, nil when one of its instructions is not known.
func decode(text []byte, addr uint64, one Decoder) *code {
	c := &code{targets: make(map[uint64][]int)}
	for len(text) > 0 {
		in, ok := one(text, addr)
		if !ok || in.Len <= 0 || in.Len > len(text) {
			return nil
		}
		in.Addr = addr
		if (in.Kind == Branch || in.Kind == Jump) && in.Target != 0 {
			c.targets[in.Target] = append(c.targets[in.Target], len(c.insts))
		}
		if in.Kind == Jump && in.Target == 0 {
			c.byTable = append(c.byTable, len(c.insts))
		}
		c.insts = append(c.insts, in)
		text, addr = text[in.Len:], in.end()
	}
	return c
}

// enteredByTable notes that jumps by a table may lead to an address.
func (c *code) enteredByTable(to uint64) {
	c.targets[to] = append(c.targets[to], c.byTable...)
}

// index returns the index of the instruction at an address, -1 when none begins there.
func (c *code) index(addr uint64) int {
	i := sort.Search(len(c.insts), func(i int) bool { return c.insts[i].Addr >= addr })
	if i == len(c.insts) || c.insts[i].Addr != addr {
		return -1
	}
	return i
}

// falls reports whether what is behind an instruction may be executed after it.
func (c *code) falls(i int) bool {
	switch c.insts[i].Kind {
	case Jump, Return, Trap:
		return false
	}
	return true
}

// first returns the first instruction of the straight piece of code that ends with i: nothing
// leads into it behind its first, and nothing out of it ahead of i, unless a call does not
// return.
func (c *code) first(i int) int {
	for i > 0 && c.targets[c.insts[i].Addr] == nil {
		if k := c.insts[i-1].Kind; k == Branch || k == Call || !c.falls(i-1) {
			break
		}
		i--
	}
	return i
}

// piece bounds how far what a branch leads to is looked at, in instructions.
const piece = 32

// until goes through the code at an address, up to where it may go on in two ways, and returns
// the first instruction that stop accepts, nil for none.
func (c *code) until(addr uint64, stop func(*Instruction) bool) *Instruction {
	i := c.index(addr)
	for n := 0; i >= 0 && i < len(c.insts) && n < piece; n++ {
		if stop(&c.insts[i]) {
			return &c.insts[i]
		}
		switch in := &c.insts[i]; {
		case in.Kind == Jump && in.Target != 0:
			i = c.index(in.Target)
		case in.Kind == Branch || !c.falls(i):
			return nil
		default:
			i++
		}
	}
	return nil
}
