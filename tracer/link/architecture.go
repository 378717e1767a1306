package link

import (
	"debug/elf"

	"github.com/waymark-trace/waymark/tracer/internal/simple/gocode"
)

// architectures are those that link knows. Files of others it refuses.
var architectures = map[elf.Machine]architecture{elf.EM_X86_64: x86{}}

// architecture is all that link knows of a processor's instructions. There is x86-64; another one is
// another implementation, and a pair of bytes or words in package patch.
type architecture interface {
	// relative is the type of the relocations that say where the dynamic loader is to store a pointer.
	relative() uint32

	// references calls found with the place of all that may be a reference to a wanted address. It is
	// for finding functions quickly: what is no reference does no harm, one that is left out does.
	references(text []byte, base uint64, wanted func(addr uint64) bool, found func(at uint64))

	// jumps calls found with all that may be an instruction, ending at end, that jumps or makes a pointer
	// into a place that into accepts. Bytes that only look like one are among them.
	jumps(text []byte, base uint64, into func(addr uint64) bool, found func(end, to uint64))

	// walk calls found with each instruction of a function that may concern a marker. pcs are the addresses of it and of
	// the instructions before it. What it cannot decode it passes over.
	walk(entry uint64, text []byte, known around, found func(s step, pcs []uint64))

	// simple decodes the instruction at the start of text, for package simpleplace.
	simple(text []byte, addr uint64) (in gocode.Instruction, ok bool)

	// decode decodes all of a function; nil when one instruction is not known. byHand tells functions
	// written in assembly, which keep to no convention, from those that the compiler made.
	decode(entry uint64, text []byte, byHand func(addr uint64) bool) routine
}

// around is what is known about a function from outside of its code.
type around struct {
	closure   map[uint64]uint64                // words of the closure that it is called with, by their offset
	constant  func(addr uint64) (uint64, bool) // a word of the file's memory that never changes
	preserves func(entry uint64) bool          // whether a function that it calls leaves registers as they are
}

// step is what one instruction does that may concern a marker; what it does not do is zero.
type step struct {
	reads    uint64 // the address of four bytes that it reads
	calls    uint64 // the function that it calls
	constant uint64 // an immediate operand that it copies
	address  uint64 // a static address that it makes

	// Of a store: where, which in memory that is not static is an address that means something in this function only,
	// how many bytes, and the address that is stored, 0 if it is not known.
	writes, size, word uint64

	// Of a call: the addresses that Go's internal ABI has for the first two arguments, where they are known.
	receiver, second uint64
}

// routine is a decoded function.
type routine interface {
	// reads calls found with each instruction, by its index, that reads a wanted address, or may. pcs are
	// the addresses of it and of the instructions before it.
	reads(wanted func(addr uint64) bool, found func(i int, pcs []uint64, addr uint64))

	// rewrite proves that the instruction, which reads a word, belongs to a test of it and nothing else, and
	// returns what to write there; or why that cannot be proved.
	rewrite(i int, word wordAt) (r rewritten, why string)

	// endsAt reports whether an instruction ends at an address, and not only bytes that look like one.
	endsAt(addr uint64) bool
}
