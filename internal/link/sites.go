package link

import (
	"debug/gosym"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/markerabi"
)

// siteAt is one place in the code that tests a marker's armed word.
type siteAt struct {
	addr     uint64
	function string
	file     string
	line     int
}

// code finds the references to markers in the program's text.
type code struct {
	img     *image
	funcs   *gosym.Table
	markers []*markerAt // by address
	low     uint64      // markers lie in low … high
	high    uint64
}

// findSites fills in the sites and the argument types of every marker.
//
// Go code refers to a package-level variable by a 32-bit displacement from the program
// counter, so every displacement that would land on a marker is tried, and the functions
// with such hits are decoded to see which are real. This takes no symbols.
func (img *image) findSites(markers []*markerAt) (err error) {
	defer func() { // debug/gosym panics on some malformed tables
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: its function table: %v", ErrLayout, r)
		}
	}()
	c := &code{img: img, markers: markers}
	c.low, c.high = markers[0].addr, markers[len(markers)-1].addr+markerabi.HeaderSize
	c.funcs = img.functions()
	text := img.at(img.anchor.text, img.anchor.etext-img.anchor.text)
	if text == nil || c.funcs == nil {
		return fmt.Errorf("%w: it has no function table", ErrLayout)
	}
	scanned := make(map[uint64]bool)
	budget := 2 * len(text) // functions overlap in hostile files only
	for i := 0; i+4 <= len(text); i++ {
		next := img.anchor.text + uint64(i) + 4
		to := next + uint64(int64(int32(le.Uint32(text[i:]))))
		if to-c.low >= c.high-c.low || c.marker(to) == nil {
			continue
		}
		fn := c.funcs.PCToFunc(next - 4)
		if fn == nil || scanned[fn.Entry] {
			continue
		}
		scanned[fn.Entry] = true
		if budget -= int(min(fn.End-fn.Entry, maxFunction)); budget < 0 {
			return fmt.Errorf("%w: its functions overlap", ErrLayout)
		}
		c.scan(fn)
	}
	return nil
}

// functions reads the program's own function table, which stripping leaves.
func (img *image) functions() *gosym.Table {
	a := &img.anchor
	pclntab := img.at(a.pclntab, a.epclntab-a.pclntab)
	if pclntab == nil {
		return nil
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(pclntab, a.text))
	if err != nil {
		return nil
	}
	return table
}

// marker returns the marker whose header holds addr.
func (c *code) marker(addr uint64) *markerAt {
	i := sort.Search(len(c.markers), func(i int) bool { return c.markers[i].addr > addr })
	if i == 0 || addr-c.markers[i-1].addr >= markerabi.HeaderSize {
		return nil
	}
	return c.markers[i-1]
}

// maxFunction bounds the decoding of one function, in bytes.
const maxFunction = 4 << 20

// scan decodes one function and notes its sites.
func (c *code) scan(fn *gosym.Func) {
	if fn.End < fn.Entry || fn.End-fn.Entry > maxFunction {
		return
	}
	text := c.img.at(fn.Entry, fn.End-fn.Entry)
	var block blockScan
	var pcs []uint64
	for at := 0; at < len(text); {
		inst, err := x86asm.Decode(text[at:], 64)
		if err != nil || inst.Len == 0 {
			at++
			block = blockScan{}
			continue
		}
		pc := fn.Entry + uint64(at)
		at += inst.Len
		pcs = append(pcs, pc)
		switch to, ok := pcRelative(&inst, pc); {
		case ok && inst.Op == x86asm.LEA:
			if m := c.marker(to); m != nil && m.addr == to {
				block.marker, block.markerPC = m, pc
			} else {
				block.leas = append(block.leas, to)
			}
		case ok && inst.MemBytes == 4 && (inst.Op == x86asm.MOV || inst.Op == x86asm.CMP || inst.Op == x86asm.TEST):
			if m := c.marker(to); m != nil && m.counter() == to {
				m.sites = append(m.sites, c.site(pcs, fn))
			}
		}
		switch inst.Op {
		case x86asm.CALL:
			c.learn(&block)
			block = blockScan{}
		case x86asm.RET, x86asm.JMP:
			block = blockScan{}
		}
	}
}

// blockScan is what has been seen since the last call or jump.
type blockScan struct {
	marker   *markerAt
	markerPC uint64
	leas     []uint64
}

// learn takes the argument types from the dictionary that a call of a marker's method is
// given. The call's receiver is the marker; the dictionary is the last address loaded that
// reads as one.
func (c *code) learn(b *blockScan) {
	m := b.marker
	if m == nil || m.args != nil || m.arity == 0 {
		return
	}
	for _, to := range slices.Backward(b.leas) {
		if args := c.img.dictionary(to, m.arity); args != nil {
			m.args = args
			return
		}
	}
}

// site describes the place of the last of pcs, instructions of fn.
//
// The line table has the line of the inlined Mark there, in package marker itself. The call
// is on the line of the last instruction before it that is not: the compiler keeps an
// instruction of the calling line in front of inlined code.
func (c *code) site(pcs []uint64, fn *gosym.Func) siteAt {
	s := siteAt{addr: pcs[len(pcs)-1], function: fn.Name}
	for _, pc := range slices.Backward(pcs[max(0, len(pcs)-64):]) {
		s.file, s.line, _ = c.funcs.PCToLine(pc)
		if !strings.HasSuffix(s.file, markerSource) {
			break
		}
	}
	return s
}

// markerSource is the end of the name of the file that holds every Mark.
const markerSource = "/marker/zarity_unsafe.go"

// pcRelative returns the address that an instruction's memory operand denotes, when it is
// relative to the program counter.
func pcRelative(inst *x86asm.Inst, pc uint64) (uint64, bool) {
	for _, arg := range inst.Args {
		if mem, ok := arg.(x86asm.Mem); ok && mem.Base == x86asm.RIP && mem.Index == 0 {
			if mem.Disp > math.MaxInt32 || mem.Disp < math.MinInt32 {
				return 0, false
			}
			return pc + uint64(inst.Len) + uint64(mem.Disp), true
		}
	}
	return 0, false
}
