package sdt

// Addr is a link-time virtual address. It is neither a file offset nor, in a position
// independent file, the address at run time.
type Addr uint64

// Offset is an offset in bytes from the start of a file.
type Offset uint64

// Note is one entry of a .note.stapsdt section as written.
type Note struct {
	Provider  string
	Name      string
	Location  Addr // the probed instruction
	Base      Addr // the address of .stapsdt.base when the file was linked, 0 for none
	Semaphore Addr // the reference counter, 0 for none
	Args      string
}

// Site is one place of a probe, ready to attach to.
type Site struct {
	Note
	// Address is Location in this file: where the file was prelinked they differ.
	Address Addr
	// Offset is the file offset of the probed instruction.
	Offset Offset
	// CounterOffset is the file offset of the 16-bit reference counter, 0 for none or one
	// that the kernel cannot raise.
	CounterOffset Offset
	// Operands are the locations of the arguments, in order. An operand that cannot be read
	// has Err set and costs that argument only.
	Operands []Operand
}

// OperandKind is the kind of location that an operand denotes.
type OperandKind uint8

const (
	// Unreadable operands have Err set.
	Unreadable OperandKind = iota
	// Constant is Value itself.
	Constant
	// Register is the low Size bytes of Base, after shifting right by Shift bits.
	Register
	// Memory is the Size bytes at Base + Index*Scale + Disp.
	Memory
)

// Extend defines how much of an index register is used, and how the rest is filled.
type Extend uint8

const (
	// Whole is all of the register.
	Whole Extend = iota
	// ZeroExtend is its lower 32 bits, unsigned: uxtw on aarch64.
	ZeroExtend
	// SignExtend is its lower 32 bits, signed: sxtw.
	SignExtend
)

// Operand is one argument of a site.
type Operand struct {
	Text   string // as written in the note
	Kind   OperandKind
	Size   int // bytes, 1, 2, 4 or 8
	Signed bool
	Float  bool   // an IEEE 754 number of Size bytes
	Value  uint64 // Constant: its bits, extended to 64 by its sign
	Base   Reg    // Register, Memory; NoReg for none
	Index  Reg    // Memory; NoReg for none
	Scale  uint8  // of Index: 1, 2, 4 or 8
	Extend Extend // of Index, before it is scaled
	Shift  uint8  // Register: 8 for %ah, %bh, %ch, %dh
	Disp   int64  // Memory; relative to the site's own address where Base is PC
	Symbol string // the symbol that Disp was resolved from, for display
	Err    error  // why the argument cannot be read
}
