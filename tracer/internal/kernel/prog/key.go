package prog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cilium/ebpf/asm"
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

// KeyLayout is where the parts of keys lie.
type KeyLayout struct {
	Size int // bytes of a key
	at   []int16
}

// LayoutOf returns the layout that holds the keys of all sites.
func LayoutOf(keys []Key) (KeyLayout, error) {
	l := KeyLayout{Size: offKeyParts}
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
		l.at = append(l.at, int16(l.Size))
		l.Size += size
	}
	if l.Size > MaxKey {
		return l, fmt.Errorf("a key of %d bytes: at most %d, which four strings take", l.Size, MaxKey)
	}
	return l, nil
}

// Holds reports whether keys of another layout fit: each part into the room of this one's.
func (l KeyLayout) Holds(other KeyLayout) bool {
	if len(l.at) != len(other.at) {
		return false
	}
	for i := range l.at {
		if l.room(i) < other.room(i) {
			return false
		}
	}
	return true
}

// room is how many bytes part i has.
func (l KeyLayout) room(i int) int {
	end := l.Size
	if i+1 < len(l.at) {
		end = int(l.at[i+1])
	}
	return end - int(l.at[i])
}

// RawKey is a key as the kernel wrote it.
type RawKey struct {
	b      []byte
	layout KeyLayout
}

// Raw returns a key of this layout. It shares b.
func (l KeyLayout) Raw(b []byte) RawKey { return RawKey{b, l} }

// Parts are all of it but its index.
func (k RawKey) Parts() []byte { return k.b[offKeyFailed:] }

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

func (k Key) mayFault() bool {
	return slices.ContainsFunc(k, func(p Part) bool { return p.mayFault() })
}

// Registers of a program with a key: R6 the saved registers of the target, R8 the failed
// parts; R7 and R9 are for what is done with the key. The stack, below program's scratch:
const (
	stackPair = -48 // a string's pointer and length
	stackKey  = -48 // the key lies below
)

// keyProgram generates programs that make a key and do something with it.
type keyProgram struct {
	program
	layout KeyLayout
}

// withKey returns a program that starts with R6 and R8 as they are documented, for matching hits;
// the others go elsewhere.
func (b Base) withKey(layout KeyLayout, s *Site, m Means, otherwise string) *keyProgram {
	m.Sleepable = m.Sleepable && s.MayFault()
	a := &keyProgram{program{Base: b, Means: m}, layout}
	a.begin(s.Where, otherwise)
	return a
}

// key is where the key lies on the stack.
func (a *keyProgram) key() int16 { return stackKey - int16(a.layout.Size) }

// makeKey fills in the parts of the key. Its head, the first 8 bytes, is the caller's.
func (a *keyProgram) makeKey(k Key) {
	a.emit(asm.Mov.Imm(asm.R8, 0))
	for at := offKeyParts; at < a.layout.Size; at += 8 {
		a.emit(asm.StoreMem(asm.RFP, a.key()+int16(at), asm.R8, asm.DWord))
	}
	for i := range k {
		a.part(i, &k[i], a.key()+a.layout.at[i])
	}
}

// part stores part i at the stack's to.
func (a *keyProgram) part(i int, p *Part, to int16) {
	switch p.Source {
	case Absent:
	case FromText:
		a.keyText(i, &p.Text, to)
	case FromComm:
		a.emit(asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)), asm.Mov.Imm(asm.R2, commSize),
			asm.FnGetCurrentComm.Call())
	default:
		a.load(p, func() { a.failed(i) })
		a.emit(asm.StoreMem(asm.RFP, to, asm.R0, asm.DWord))
	}
}

// keyText stores the length and the first bytes of a text.
func (a *keyProgram) keyText(i int, t *Text, to int16) {
	store := func(v Value, at int16) {
		a.number(v, func() { a.failed(i) })
		a.emit(asm.StoreMem(asm.RFP, at, asm.R0, asm.DWord))
	}
	switch {
	case t.terminated():
		store(t.Pointer, stackPair)
		a.readText(stackPair, to+8, KeyText, fmt.Sprintf("text%d", i))
		// Without the NUL it is a byte shorter, unless the NUL is one that the limit put there.
		a.emit(asm.Mov.Reg(asm.R1, asm.R0), asm.RSh.Imm(asm.R1, 6), asm.And.Imm(asm.R1, 1),
			asm.Add.Reg(asm.R1, asm.R0), asm.Sub.Imm(asm.R1, 1), asm.StoreMem(asm.RFP, to, asm.R1, asm.DWord))
		a.failed(i)
		return
	case t.adjacent():
		a.address(t.Pointer)
		a.read(stackPair, 16)
		a.failed(i)
	default:
		store(t.Pointer, stackPair)
		store(t.Length, stackPair+8)
	}
	a.emit(asm.LoadMem(asm.R2, asm.RFP, stackPair+8, asm.DWord), asm.StoreMem(asm.RFP, to, asm.R2, asm.DWord))
	fits := fmt.Sprintf("fits%d", i)
	a.emit(asm.JLE.Imm(asm.R2, KeyText, fits), asm.Mov.Imm(asm.R2, KeyText))
	a.label("%s", fits)
	a.emit(asm.LoadMem(asm.R3, asm.RFP, stackPair, asm.DWord),
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, int32(to)+8), a.copier().Call())
	a.failed(i)
}

// absent returns the bits of the parts that a site does not have.
func (k Key) absent() (bits int64) {
	for i := range k {
		if k[i].Source == Absent {
			bits |= 1 << i
		}
	}
	return bits
}

// keyArg points a register to the key.
func (a *keyProgram) keyArg(r asm.Register) {
	a.emit(asm.Mov.Reg(r, asm.RFP), asm.Add.Imm(r, int32(a.key())))
}
