package bpf

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/waymark-trace/waymark/internal/filter"
)

const (
	// chunkSize is how many bytes of a text are read at a time: one more are a NUL's.
	chunkSize = 127
	chunks    = (filter.MaxText + 1) / chunkSize
	// tableSize is the size in bytes of a pattern's table.
	tableSize = 256 * 8
)

// newPatterns makes the map with the patterns' tables, nil when there are none. Programs read it
// without a function call, and nobody writes it any more.
func (c *collection) newPatterns(files []File) (*ebpf.Map, error) {
	var patterns []*filter.Pattern
	for i := range files {
		for j := range files[i].Sites {
			if w := files[i].Sites[j].Where; w != nil {
				patterns = w.Filter.Patterns // all are of one expression
			}
		}
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	var b []byte
	for _, p := range patterns {
		for _, next := range p.Next {
			b = binary.NativeEndian.AppendUint64(b, next<<2) // see walk
		}
	}
	m, err := c.newMap(fmt.Sprintf("the tables of %d texts", len(patterns)), &ebpf.MapSpec{
		Name: "waymark_texts", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(len(b)), MaxEntries: 1,
		Flags: unix.BPF_F_RDONLY_PROG, Contents: []ebpf.MapKV{{Key: uint32(0), Value: b}},
	})
	if err != nil {
		return nil, err
	}
	if err := m.Freeze(); err != nil {
		return nil, fmt.Errorf("freezing the tables of texts: %w", err)
	}
	return m, nil
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
		asm.LoadMapValue(asm.R4, c.patterns, uint32(index*tableSize)))
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
