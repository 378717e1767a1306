package bpf

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/sdt"
)

// A key in a map, in the byte order of the machine:
//
//	0  index   uint32  the site's index
//	4  failed  uint16  bit i: part i could not be read, and is zero
//	6  absent  uint16  bit i: the site has no part i, and it is zero
//	8  parts, one after the other, each as long as the longest of that part among all sites
//
// A number is 8 bytes, extended by its sign; a thread's name is 16; a string is its length in
// full and its first KeyText bytes, the rest of them zero. One that a NUL ends has KeyText-1
// bytes and the length KeyText when it goes on after them.
const (
	offKeyFailed = 4
	offKeyAbsent = 6
	offKeyParts  = 8
)

const (
	// KeyText is how many bytes of a string are kept in a key.
	KeyText = 64
	// MaxParts is how many parts a key may have.
	MaxParts = 8
	// MaxKey is the most bytes of a key, four strings: it lies on the program's 512-byte stack.
	MaxKey = offKeyParts + 4*textSize

	numberSize = 8
	textSize   = 8 + KeyText
)

// Key says what hits of a site are told apart by.
type Key []Part

// Part is one of them. The zero value is one that the site does not have.
type Part struct {
	Kind PartKind
	// Value is where PartValue is, and where PartText's pointer and length are.
	Value    Value
	Signed   bool   // of PartValue: extend it by its sign
	Shift    uint8  // of PartValue in a register: bits below it
	Constant uint64 // of PartConstant
	Text     Text   // of PartPointed
	Goid     int    // of PartGoroutine: as Plan.Goid
}

// PartKind says what a part of a key is.
type PartKind uint8

const (
	PartAbsent    PartKind = iota
	PartConstant           // a number that the operand itself is
	PartValue              // a number
	PartText               // a string or []byte of a linked Go program
	PartPointed            // text that an operand points to
	PartPID                // the process, and
	PartTID                // the thread, in this process's PID namespace
	PartComm               // the thread's name
	PartCPU                // the CPU it runs on
	PartGoroutine          // the goroutine's number
)

func (p *Part) size() int {
	switch p.Kind {
	case PartText, PartPointed:
		return textSize
	case PartComm:
		return commSize
	}
	return numberSize
}

// OperandPart returns an operand's value as a part of a key. shift is as OperandPlan's.
func OperandPart(machine elf.Machine, o *sdt.Operand, shift int64) (Part, error) {
	v, err := value(machine, o, shift)
	if err != nil {
		return Part{}, err
	}
	if o.Kind == sdt.Constant {
		return Part{Kind: PartConstant, Constant: o.Value}, nil
	}
	v.Size = uint8(o.Size)
	return Part{Kind: PartValue, Value: v, Signed: o.Signed && !o.Float, Shift: o.Shift}, nil
}

// FieldPart returns a field of a record as a part of a key: a number of size bytes, or the
// string whose pointer and length are there.
func FieldPart(machine elf.Machine, offset, size int, signed, text bool) (Part, error) {
	record, _, err := goRegisters(machine)
	if err != nil {
		return Part{}, err
	}
	p := Part{Kind: PartValue, Signed: signed,
		Value: Value{Kind: FromMemory, Size: uint8(size), Base: record, Index: noRegister, Disp: int64(offset)}}
	if text {
		p.Kind, p.Signed = PartText, false
	}
	return p, nil
}

// keyLayout is where the parts of keys lie, and how long a key is.
type keyLayout struct {
	at   []int16
	size int
}

// layoutOf returns the layout that holds the keys of all sites.
func layoutOf(keys []Key) (keyLayout, error) {
	l := keyLayout{size: offKeyParts}
	if len(keys) == 0 || len(keys[0]) > MaxParts {
		return l, fmt.Errorf("a key of more than %d parts", MaxParts)
	}
	for i := range keys[0] {
		size := numberSize
		for _, k := range keys {
			if len(k) != len(keys[0]) {
				return l, errors.New("keys of different length")
			}
			size = max(size, k[i].size())
		}
		l.at = append(l.at, int16(l.size))
		l.size += size
	}
	if l.size > MaxKey {
		return l, fmt.Errorf("a key of %d bytes: at most %d, which four strings take", l.size, MaxKey)
	}
	return l, nil
}

// RawKey is a key as the kernel wrote it.
type RawKey struct {
	b      []byte
	layout keyLayout
}

// Bytes are all of it, which differ from those of every other key.
func (k RawKey) Bytes() []byte { return k.b }

// Index is the index of the sites that have it.
func (k RawKey) Index() int { return int(binary.NativeEndian.Uint32(k.b)) }

// Failed reports whether part i could not be read.
func (k RawKey) Failed(i int) bool {
	return binary.NativeEndian.Uint16(k.b[offKeyFailed:])>>i&1 != 0
}

// Absent reports whether the site has no part i.
func (k RawKey) Absent(i int) bool {
	return binary.NativeEndian.Uint16(k.b[offKeyAbsent:])>>i&1 != 0
}

// Number returns part i, which is one.
func (k RawKey) Number(i int) uint64 { return binary.NativeEndian.Uint64(k.b[k.layout.at[i]:]) }

// Text returns the first KeyText bytes of part i, and how long all of it is.
func (k RawKey) Text(i int) (text []byte, size uint64) {
	size = k.Number(i)
	from := k.b[k.layout.at[i]+8:]
	return from[:min(size, KeyText)], size
}

// Comm returns part i, which is a thread's name.
func (k RawKey) Comm(i int) [commSize]byte { return [commSize]byte(k.b[k.layout.at[i]:]) }
