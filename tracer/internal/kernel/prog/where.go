package prog

import (
	"encoding/binary"
	"math"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/filter"
)

// A condition comes first in its program: R7 to R9 and all of the stack below stackTime are free.
const (
	stackNumbers = -368 // filter.MaxDepth of them, upwards
	stackSize    = -376 // what is left of a text
	stackText    = -384 // and where
	stackChunk   = -512 // a piece of it
)

// condition generates code that jumps to one of two labels.
type condition struct {
	*program
	*Where
}

// begin puts the target's registers into R6, and lets matching hits of processes that are traced pass.
func (a *program) begin(w *Where, otherwise string) {
	a.emit(asm.Mov.Reg(asm.R6, asm.R1))
	a.emit(a.Switch.on()...)
	a.emit(a.Admit...)
	a.where(w, otherwise)
}

// where lets a hit pass to what comes next, or jumps to another label.
func (a *program) where(w *Where, otherwise string) {
	if w == nil {
		return
	}
	yes := a.unique()
	(&condition{a, w}).decide(w.Filter.Root, yes, otherwise)
	a.label("%s", yes)
}

// decide jumps to yes or no.
func (c *condition) decide(n *filter.Node, yes, no string) {
	switch n.Op {
	case filter.Not:
		c.decide(n.X, no, yes)
		return
	case filter.And, filter.Or:
		right := c.unique()
		if n.Op == filter.And {
			c.decide(n.X, right, no)
		} else {
			c.decide(n.X, yes, right)
		}
		c.label("%s", right)
		c.decide(n.Y, yes, no)
		return
	}
	switch {
	case !n.Op.IsComparison():
		c.eval(n, 0, no)
		c.emit(asm.JNE.Imm(asm.R0, 0, yes))
		c.to(no)
	case n.Y.Op == filter.Text:
		c.match(n, yes, no)
	case n.X.Kind.IsFloat():
		c.floats(n, yes, no)
	default:
		c.integers(n, yes, no)
	}
}

// jumps are the comparisons of unsigned and of signed numbers.
var jumps = map[filter.Op][2]asm.JumpOp{
	filter.Eq: {asm.JEq, asm.JEq}, filter.Ne: {asm.JNE, asm.JNE},
	filter.Lt: {asm.JLT, asm.JSLT}, filter.Le: {asm.JLE, asm.JSLE},
	filter.Gt: {asm.JGT, asm.JSGT}, filter.Ge: {asm.JGE, asm.JSGE},
}

// integers compares as numbers, whatever is signed and what is not.
func (c *condition) integers(n *filter.Node, yes, no string) {
	c.operands(n, 0, no)
	signed := n.X.Kind.Signed()
	if n.Y.Kind.Signed() != signed && !(n.Y.Op == filter.Int && int64(n.Y.Bits) >= 0) {
		// A negative number is less than every unsigned one; others compare as if both were.
		negative, less := asm.R0, n.Op == filter.Lt || n.Op == filter.Le || n.Op == filter.Ne
		if !signed {
			negative, less = asm.R1, n.Op == filter.Gt || n.Op == filter.Ge || n.Op == filter.Ne
		}
		to := no
		if less {
			to = yes
		}
		c.emit(asm.JSLT.Imm(negative, 0, to))
		signed = false
	}
	jump := jumps[n.Op][0]
	if signed {
		jump = jumps[n.Op][1]
	}
	c.emit(jump.Reg(asm.R0, asm.R1, yes))
	c.to(no)
}

// operands leaves both sides of a comparison or of a sum in R0 and R1.
func (c *condition) operands(n *filter.Node, depth int, no string) {
	c.eval(n.X, depth, no)
	if n.Y.Op == filter.Int {
		c.emit(asm.LoadImm(asm.R1, int64(n.Y.Bits), asm.DWord))
		return
	}
	kept := int16(stackNumbers + 8*depth)
	c.emit(asm.StoreMem(asm.RFP, kept, asm.R0, asm.DWord))
	c.eval(n.Y, depth+1, no)
	c.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.LoadMem(asm.R0, asm.RFP, kept, asm.DWord))
}

// eval leaves a number in R0, or jumps to no when a part of it cannot be read. depth is how many
// numbers are kept.
func (c *condition) eval(n *filter.Node, depth int, no string) {
	switch n.Op {
	case filter.Int, filter.Bool:
		c.emit(asm.LoadImm(asm.R0, int64(n.Bits), asm.DWord))
		return
	case filter.Name:
		c.variable(&c.Vars[n.Var], no)
		if n.Kind == event.Bool { // 1 for all but 0: the sign of x | -x
			c.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.Mul.Imm(asm.R1, -1), asm.Or.Reg(asm.R0, asm.R1), asm.RSh.Imm(asm.R0, 63))
		}
		return
	}
	c.operands(n, depth, no)
	switch n.Op {
	case filter.BitAnd:
		c.emit(asm.And.Reg(asm.R0, asm.R1))
	case filter.Add:
		c.emit(asm.Add.Reg(asm.R0, asm.R1))
	case filter.Sub:
		c.emit(asm.Sub.Reg(asm.R0, asm.R1))
	}
}

// variable leaves the value of a variable in R0.
func (c *condition) variable(v *Part, no string) {
	c.load(v, func() { c.emit(asm.JNE.Imm(asm.R0, 0, no)) })
}

// floats compares floating-point numbers, for which the kernel has no instructions: their
// bits, sign and magnitude, order as the numbers do once the sign is that of two's complement.
func (c *condition) floats(n *filter.Node, yes, no string) {
	nan := no
	if n.Op == filter.Ne {
		nan = yes // which differs from everything
	}
	c.order(n.X, nan, no)
	c.emit(asm.StoreMem(asm.RFP, stackNumbers, asm.R0, asm.DWord))
	c.order(n.Y, nan, no)
	c.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.LoadMem(asm.R0, asm.RFP, stackNumbers, asm.DWord))
	c.emit(jumps[n.Op][1].Reg(asm.R0, asm.R1, yes))
	c.to(no)
}

// order leaves in R0 a signed integer that compares as the number does. A float32 is treated as
// the upper half of 64 bits.
func (c *condition) order(n *filter.Node, nan, no string) {
	if n.Op == filter.Float {
		c.emit(asm.LoadImm(asm.R0, int64(n.Bits), asm.DWord))
	} else {
		c.variable(&c.Vars[n.Var], no)
	}
	infinity := int64(math.Float64bits(math.Inf(1)))
	if n.Kind == event.Float32 {
		infinity = int64(math.Float32bits(float32(math.Inf(1)))) << 32
		c.emit(asm.LSh.Imm(asm.R0, 32))
	}
	c.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.LSh.Imm(asm.R1, 1), asm.RSh.Imm(asm.R1, 1), // the magnitude
		asm.LoadImm(asm.R2, infinity, asm.DWord), asm.JGT.Reg(asm.R1, asm.R2, nan),
		asm.ArSh.Imm(asm.R0, 63), asm.Xor.Reg(asm.R1, asm.R0), asm.Sub.Reg(asm.R1, asm.R0), // negated when negative
		asm.Mov.Reg(asm.R0, asm.R1))
}

const (
	// chunkSize is how many bytes of a text are read at a time: one more are a NUL's.
	chunkSize = 127
	chunks    = (filter.MaxText + 1) / chunkSize
	// tableSize is the size in bytes of a pattern's table.
	tableSize = 256 * 8
)

// PatternTables returns the map with the tables of a condition's patterns. Programs read it without a
// function call, and it is to be frozen.
func PatternTables(patterns []*filter.Pattern) *ebpf.MapSpec {
	const readOnlyProg = 1 << 7 // BPF_F_RDONLY_PROG, include/uapi/linux/bpf.h
	var b []byte
	for _, p := range patterns {
		for _, next := range p.Next {
			b = binary.NativeEndian.AppendUint64(b, next<<2) // see walk
		}
	}
	return &ebpf.MapSpec{
		Name: "waymark_texts", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(len(b)), MaxEntries: 1,
		Flags: readOnlyProg, Contents: []ebpf.MapKV{{Key: uint32(0), Value: b}},
	}
}

// match compares a text with a pattern. R7 has the pattern's states, R9 counts the chunks.
func (c *condition) match(n *filter.Node, yes, no string) {
	fault := no
	if n.Op == filter.Ne || n.Op == filter.NoMatch {
		yes, no = no, yes
	}
	v := &c.Vars[n.X.Var]
	unread := func() { c.emit(asm.JNE.Imm(asm.R0, 0, fault)) }
	again, more := c.unique(), c.unique()
	c.emit(asm.Mov.Imm(asm.R7, 1<<1), asm.Mov.Imm(asm.R9, 0))
	if v.Source == FromText {
		c.number(v.Text.Pointer, unread)
		c.emit(asm.StoreMem(asm.RFP, stackText, asm.R0, asm.DWord))
		if !v.Text.terminated() {
			c.number(v.Text.Length, unread)
			c.emit(asm.StoreMem(asm.RFP, stackSize, asm.R0, asm.DWord))
			// Kernels before 6.3 want all that a function may write a part of written before.
			for at := int16(0); at <= chunkSize; at += 8 {
				c.zero(asm.RFP, stackChunk+at)
			}
		}
	}
	c.label("%s", again)
	c.chunk(v, fault)
	c.walk(n.Pattern, more, yes, no)
	c.label("%s", more)
	if v.Source == FromText {
		c.advance(stackText, chunkSize)
		if !v.Text.terminated() {
			c.advance(stackSize, -chunkSize)
		}
		c.emit(asm.Add.Imm(asm.R9, 1), asm.JLT.Imm(asm.R9, chunks, again))
	}
	c.to(no)
}

func (c *condition) advance(at int16, by int32) {
	c.emit(asm.LoadMem(asm.R1, asm.RFP, at, asm.DWord), asm.Add.Imm(asm.R1, by), asm.StoreMem(asm.RFP, at, asm.R1, asm.DWord))
}

// chunk reads the next piece of a text, and leaves its length in R0: chunkSize unless it is the last.
func (c *condition) chunk(v *Part, fault string) {
	switch {
	case v.Source == FromComm:
		c.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, stackChunk+64), asm.Mov.Imm(asm.R2, commSize),
			asm.FnGetCurrentComm.Call(),
			asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, stackChunk), asm.Mov.Imm(asm.R2, commSize),
			asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackChunk+64),
			asm.FnProbeReadKernelStr.Call())
	case v.Text.terminated():
		c.readText(stackText, stackChunk, chunkSize+1, c.unique())
	default:
		c.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, stackChunk))
		c.left(asm.R2)
		c.emit(asm.LoadMem(asm.R3, asm.RFP, stackText, asm.DWord), c.copier().Call(), asm.JNE.Imm(asm.R0, 0, fault))
		c.left(asm.R0)
		return
	}
	c.emit(asm.JSLE.Imm(asm.R0, 0, fault), asm.Sub.Imm(asm.R0, 1), asm.And.Imm(asm.R0, chunkSize))
}

// left leaves in a register how much of a text the next chunk has.
func (c *condition) left(r asm.Register) {
	fits := c.unique()
	c.emit(asm.LoadMem(r, asm.RFP, stackSize, asm.DWord), asm.JLE.Imm(r, chunkSize, fits), asm.Mov.Imm(r, chunkSize))
	c.label("%s", fits)
}

// walk takes the states through the R0 bytes of a chunk, and jumps to more when there were as many
// as a chunk holds.
//
// It is written for the verifier, which walks every turn. State i is bit i+1 here, and a one goes
// into bit 0 that the tables take away: after each turn the verifier then knows nothing of R7, and a
// way out looks to it like the one before. The way out comes before the jump on, since that is
// the order in which it tries them.
func (c *condition) walk(index int, more, yes, no string) {
	p := c.Filter.Patterns[index]
	last := int32(p.Last) + 1
	turn, some, body, alive, on := c.unique(), c.unique(), c.unique(), c.unique(), c.unique()
	c.emit(asm.Mov.Imm(asm.R1, 0), asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackChunk),
		asm.LoadMapValue(asm.R4, c.Patterns, uint32(index*tableSize)))
	if p.Stay != 0 {
		c.emit(asm.LoadImm(asm.R5, int64(p.Stay<<1), asm.DWord))
	}
	c.label("%s", turn)
	c.emit(asm.JLT.Imm(asm.R1, chunkSize, some))
	c.to(more)
	c.label("%s", some)
	c.emit(asm.JLT.Reg(asm.R1, asm.R0, body))
	c.emit(asm.RSh.Imm(asm.R7, last), asm.And.Imm(asm.R7, 1), asm.JNE.Imm(asm.R7, 0, yes)) // the text's end
	c.to(no)
	c.label("%s", body)
	c.emit(asm.LoadMem(asm.R3, asm.R2, 0, asm.Byte), asm.LSh.Imm(asm.R3, 3), asm.Add.Reg(asm.R3, asm.R4),
		asm.LoadMem(asm.R3, asm.R3, 0, asm.DWord))
	if p.Stay != 0 {
		c.emit(asm.And.Reg(asm.R5, asm.R7))
	}
	c.emit(asm.LSh.Imm(asm.R7, 1), asm.Or.Imm(asm.R7, 1), asm.And.Reg(asm.R7, asm.R3))
	if p.Stay != 0 {
		c.emit(asm.Or.Reg(asm.R7, asm.R5), asm.LoadImm(asm.R5, int64(p.Stay<<1), asm.DWord))
	}
	c.emit(asm.JNE.Imm(asm.R7, 0, alive))
	c.to(no)
	c.label("%s", alive)
	if p.Stay>>p.Last&1 != 0 { // whatever follows
		c.emit(asm.Mov.Reg(asm.R3, asm.R7), asm.RSh.Imm(asm.R3, last), asm.And.Imm(asm.R3, 1), asm.JEq.Imm(asm.R3, 0, on))
		c.to(yes)
		c.label("%s", on)
	}
	c.emit(asm.Add.Imm(asm.R1, 1), asm.Add.Imm(asm.R2, 1))
	c.to(turn)
}
