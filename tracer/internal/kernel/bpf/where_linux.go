package bpf

import (
	"fmt"
	"math"

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
	*traceProgram
	*Where
}

// where lets a hit pass to what comes next, or jumps to another label.
func (a *traceProgram) where(w *Where, otherwise string) {
	if w == nil {
		return
	}
	yes := a.unique()
	(&condition{a, w}).decide(w.Filter.Root, yes, otherwise)
	a.label("%s", yes)
}

// unique returns a label that the program does not have yet.
func (a *traceProgram) unique() string {
	a.labels++
	return fmt.Sprintf("where%d", a.labels)
}

// to jumps.
func (a *traceProgram) to(label string) { a.emit(asm.Ja.Label(label)) }

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
