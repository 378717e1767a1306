package ccode

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// RedZones finds the functions of an x86-64 program that may have variables in the red zone: the 128
// bytes below the stack pointer, which the System V ABI (AMD64 supplement, 3.2.2) leaves to functions
// that call no others.
//
// Compilers decide for a whole function. gcc (ix86_compute_frame_layout) and LLVM
// (X86FrameLowering::emitPrologue) use the red zone only in functions without calls, also below a
// frame that is set up; so neither "sub rsp" nor "push rbp" shows that it is unused. Calls do, and so
// does code that neither uses memory below the stack pointer nor computes addresses on the stack.
type RedZones struct {
	im      *elffile.Image
	opened  bool // here, by the reader
	frames  *debuginfo.Frames
	symbols [][2]uint64 // functions without an entry in the unwind tables, ascending
	known   map[uint64]*judged
	decoded uint64 // bytes, in all functions
	err     error
}

// The code that is examined of one function, and of all: in hostile files functions overlap.
const (
	maxExamined    = 512 << 10
	maxAllExamined = 16 << 20
)

// NewRedZones reads the bounds of the functions of a file, which must stay open until Close.
func NewRedZones(r io.ReaderAt) *RedZones {
	z := &RedZones{known: map[uint64]*judged{}}
	if z.im, z.err = elffile.Of(r, ""); z.err != nil {
		return z
	}
	z.opened = r != io.ReaderAt(z.im)
	if z.frames, z.err = debuginfo.ReadFrames(z.im); z.err == nil {
		z.err = z.readSymbols()
	}
	return z
}

// Close frees what was read of the file. It leaves the file open, and an image that it was given.
func (z *RedZones) Close() {
	if z.opened {
		z.im.Close()
	}
}

func (z *RedZones) readSymbols() error {
	for _, table := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		err := z.im.Symbols(table, func(s *elffile.Symbol) {
			if s.Type != elf.STT_FUNC || !s.Defined() || s.Size == 0 || s.Value+s.Size < s.Value {
				return
			}
			if _, _, ok := z.frames.Extent(s.Value); !ok {
				z.symbols = append(z.symbols, [2]uint64{s.Value, s.Value + s.Size})
			}
		})
		if err != nil {
			return err
		}
	}
	slices.SortFunc(z.symbols, func(a, b [2]uint64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(b[1], a[1])) })
	return nil
}

// extent returns the bounds of the function, or of the part of one, at an address.
func (z *RedZones) extent(address uint64) (begin, end uint64, ok bool) {
	if begin, end, ok = z.frames.Extent(address); ok {
		return begin, end, true
	}
	i, found := slices.BinarySearchFunc(z.symbols, address, func(s [2]uint64, a uint64) int { return cmp.Compare(s[0], a) })
	if !found {
		i--
	}
	if i < 0 || address >= z.symbols[i][1] {
		return 0, 0, false
	}
	return z.symbols[i][0], z.symbols[i][1], true
}

// Check returns why variables may be below the stack pointer at an instruction, or nil if none are.
func (z *RedZones) Check(address uint64) (err error) {
	if z.err != nil {
		return fmt.Errorf("the bounds of its function are unknown: %w", z.err)
	}
	guarded := debuginfo.Guard(func() error {
		err = z.check(address)
		return nil
	})
	return cmp.Or(guarded, err)
}

func (z *RedZones) check(address uint64) error {
	begin, end, ok := z.extent(address)
	if !ok {
		return errors.New("the bounds of its function are unknown: neither unwind tables nor symbols cover it")
	}
	fn := z.known[begin]
	if fn == nil {
		fn = z.judge(begin, end)
		z.known[begin] = fn
	}
	if fn.err != nil {
		return fn.err
	}
	if i := address - begin; fn.starts[i/8]>>(i%8)&1 == 0 {
		return errors.New("it is inside another instruction of its function")
	}
	return nil
}

// judged is a function that was examined.
type judged struct {
	starts []byte // a bit for each byte: whether an instruction begins there
	err    error
}

// judge decodes a function with all its parts, and judges it.
func (z *RedZones) judge(begin, end uint64) *judged {
	code := &stackCode{}
	for work := [][2]uint64{{begin, end}}; len(work) > 0; work = work[1:] {
		part, err := z.decode(work[0][0], work[0][1])
		if err != nil {
			return &judged{err: err}
		}
		code.add(part)
		for _, p := range z.parts(code, part) {
			if !slices.Contains(work, p) {
				work = append(work, p)
			}
		}
	}
	if err := code.judge(z.isEntry(begin)); err != nil {
		return &judged{err: err}
	}
	fn := &judged{starts: make([]byte, (end-begin+7)/8)}
	for _, op := range code.parts[0] {
		i := op.address - begin
		fn.starts[i/8] |= 1 << (i % 8)
	}
	return fn
}

func (z *RedZones) decode(begin, end uint64) (ops []stackOp, err error) {
	if end-begin > maxExamined || end-begin > maxAllExamined-z.decoded {
		return nil, fmt.Errorf("its function of %d bytes, after %d bytes of other functions, is more code than is examined: %d bytes of one function, %d bytes of a file",
			end-begin, z.decoded, maxExamined, maxAllExamined)
	}
	z.decoded += end - begin
	bytes, err := z.code(begin, end-begin)
	if err != nil {
		return nil, err
	}
	for at := 0; at < len(bytes); {
		op := stackOpAt(bytes[at:min(len(bytes), at+15)], begin+uint64(at))
		if op.size == 0 {
			return nil, fmt.Errorf("its function has an unknown instruction at %#x", op.address)
		}
		ops = append(ops, op)
		at += int(op.size)
	}
	return ops, nil
}

func (z *RedZones) code(address, size uint64) ([]byte, error) {
	s := z.im.SegmentAt(address)
	if s == nil || s.Flags&elf.PF_X == 0 {
		return nil, fmt.Errorf("its function at %#x is in no code of the file", address)
	}
	offset, ok := s.FileOffset(address, size)
	if !ok {
		return nil, fmt.Errorf("its function at %#x is in no code of the file", address)
	}
	b := make([]byte, size)
	if _, err := z.im.ReadAt(b, int64(offset)); err != nil {
		return nil, err
	}
	return b, nil
}

// parts returns the bounds of the parts of the same function that jumps lead to: compilers move
// unlikely paths away from the others. Other jumps out of a function are calls in tail position, which
// a function without calls may have.
func (z *RedZones) parts(code *stackCode, of []stackOp) (all [][2]uint64) {
	for i := range of {
		op := &of[i]
		if !op.jumps || op.target == 0 || code.covers(op.target) {
			continue
		}
		begin, end, ok := z.frames.Extent(op.target)
		if !ok || code.covers(begin) || begin == op.target && z.isEntry(begin) {
			continue
		}
		if p := [2]uint64{begin, end}; !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// isEntry reports whether an address may be where a function is called: only the return address is
// on its stack.
func (z *RedZones) isEntry(address uint64) bool {
	const rsp = 7 // System V ABI, AMD64 supplement, 3.6.2
	c, err := z.frames.CFA(address)
	return err != nil || c == debuginfo.CFA{Register: rsp, Offset: word}
}
