package bpf

import (
	"debug/elf"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

const (
	// MaxValues is how many values a plan reads: they pass through the program's 512-byte
	// stack. sys/sdt.h allows 12.
	MaxValues = 32
	// MaxRecord is the largest record in bytes, for the same reason.
	MaxRecord = 8 * MaxValues
	// MaxStrings is as many as a record's eight fields.
	MaxStrings = 8
	// MaxString is the most bytes kept of one string.
	MaxString = 4096
	// maxSlot has room for a NUL, too, and a byte that says that there is more.
	maxSlot = MaxString + 8
)

// Plan says what the events of a site carry, and where it lies when the site is hit. Sites
// with equal plans share code.
type Plan struct {
	// Goid is the offset of the goroutine's number in the runtime's g, -1 for none.
	Goid int
	// Record is the size of the record that the record register points to, 0 for none.
	Record int
	// Strings are the offsets in the record of pairs of pointer and length.
	Strings []int
	// Values are read when there is no record,
	Values []Value
	// and Texts are what some of them point to.
	Texts []Text
}

// Text is a string that operands point to.
type Text struct {
	Pointer Value
	// Length is its number of bytes; of kind Nothing, a NUL ends it.
	Length Value
}

func (t *Text) terminated() bool { return t.Length.Kind == Nothing }

// Value is one operand in terms of the saved registers. The zero value is nothing to read.
type Value struct {
	Kind  ValueKind
	Size  uint8 // of FromMemory, and of numbers: 1, 2, 4 or 8
	Scale uint8 // of Index
	Base  int16 // offset in the saved registers, noRegister for none
	Index int16 // the same
	Disp  int64
	// Extend says how much of Index counts.
	Extend sdt.Extend
	// Signed and Shift say how to make a number of what was read; events carry it as it is.
	Signed bool
	Shift  uint8 // of FromRegister: bits below it
	// Steps leave the number, of Computed.
	Steps *location.Program
}

// ValueKind says where a value lies.
type ValueKind uint8

const (
	// Nothing is a value that events do not carry: a constant, or one that cannot be read.
	Nothing ValueKind = iota
	// FromRegister is all of register Base.
	FromRegister
	// FromMemory is Size bytes at Base + Index*Scale + Disp.
	FromMemory
	// Immediate is the number Disp.
	Immediate
	// Computed is the number that Steps leave.
	Computed
)

const noRegister = -1

// ErrTooMany is the error of operands after the first MaxValues.
var ErrTooMany = fmt.Errorf("more than %d arguments", MaxValues)

// OperandPlan returns the plan for operands, and why each that has no value in events has
// none. shift is how far behind the site's own address the probe sits.
func OperandPlan(machine elf.Machine, ops []sdt.Operand, shift int64) (*Plan, []error) {
	p := &Plan{Goid: -1}
	errs := make([]error, len(ops))
	for i := range ops {
		if i >= MaxValues {
			errs[i] = ErrTooMany
			continue
		}
		v, err := value(machine, &ops[i], shift)
		errs[i] = err
		p.Values = append(p.Values, v)
	}
	return p, errs
}

// RecordPlan returns the plan for a record of size bytes with strings at the given offsets.
func RecordPlan(size int, strings []int, goid int) (*Plan, error) {
	if size < 0 || size > MaxRecord || len(strings) > MaxStrings {
		return nil, fmt.Errorf("record of %d bytes and %d strings: at most %d and %d", size, len(strings), MaxRecord, MaxStrings)
	}
	for _, at := range strings {
		if at < 0 || at > size-16 || at%8 != 0 {
			return nil, fmt.Errorf("string at offset %d of a record of %d bytes", at, size)
		}
	}
	return &Plan{Goid: goid, Record: size, Strings: strings}, nil
}

func value(machine elf.Machine, o *sdt.Operand, shift int64) (Value, error) {
	if o.Err != nil {
		return Value{}, o.Err
	}
	switch o.Kind {
	case sdt.Constant:
		return Value{}, nil
	case sdt.Register:
		base, err := registerOffset(machine, o.Base)
		return Value{Kind: FromRegister, Base: base, Index: noRegister}, err
	case sdt.Memory:
		return memory(machine, o, shift)
	}
	return Value{}, errors.New("operand of an unknown kind")
}

func memory(machine elf.Machine, o *sdt.Operand, shift int64) (Value, error) {
	v := Value{Kind: FromMemory, Size: uint8(o.Size), Scale: o.Scale, Base: noRegister, Index: noRegister, Disp: o.Disp}
	switch o.Size {
	case 1, 2, 4, 8:
	default:
		return Value{}, fmt.Errorf("operand of %d bytes", o.Size)
	}
	var err error
	if o.Base != sdt.NoReg {
		if v.Base, err = registerOffset(machine, o.Base); err != nil {
			return Value{}, err
		}
	}
	if o.Base == sdt.PC {
		v.Disp -= shift // the saved program counter is that of the probe
	}
	if o.Index != sdt.NoReg {
		if v.Index, err = registerOffset(machine, o.Index); err != nil {
			return Value{}, err
		}
		switch o.Scale {
		case 1, 2, 4, 8:
		default:
			return Value{}, fmt.Errorf("index scaled by %d", o.Scale)
		}
		v.Extend = o.Extend
	}
	return v, nil
}

// OperandValue returns an operand as a number, extended to 64 bits as its size and sign say.
func OperandValue(machine elf.Machine, o *sdt.Operand, shift int64) (Value, error) {
	v, err := value(machine, o, shift)
	if err != nil {
		return Value{}, err
	}
	if o.Kind == sdt.Constant {
		return Value{Kind: Immediate, Base: noRegister, Index: noRegister, Disp: int64(o.Value)}, nil
	}
	switch o.Size {
	case 1, 2, 4, 8:
		v.Size = uint8(o.Size)
	default:
		v.Size = 8
	}
	v.Signed, v.Shift = o.Signed && !o.Float, o.Shift
	return v, nil
}

// ComputedValue returns what a program leaves as a number of size bytes.
func ComputedValue(machine elf.Machine, p location.Program, size int, signed bool) (Value, error) {
	v := Value{Kind: Computed, Size: uint8(size), Signed: signed, Base: noRegister, Index: noRegister, Steps: &p}
	if err := p.Check(); err != nil {
		return Value{}, err
	}
	for _, s := range p {
		if s.Op == location.Register {
			if _, err := dwarfRegister(machine, s.Arg); err != nil {
				return Value{}, err
			}
		}
	}
	return v, nil
}

// reads reports whether the value is in the program's memory.
func (v *Value) reads() bool {
	return v.Kind == FromMemory || v.Kind == Computed && slices.ContainsFunc(*v.Steps, func(s location.Step) bool { return s.Op == location.Deref })
}

// strings is how many strings events carry.
func (p *Plan) strings() int { return len(p.Strings) + len(p.Texts) }

// textBit is the failed bit of string i.
func (p *Plan) textBit(i int) int {
	if p.Record > 0 {
		return i
	}
	return MaxValues + i
}

// bodySize is the size of the body without string slots.
func (p *Plan) bodySize() int {
	if p.Record > 0 {
		return (p.Record + 7) &^ 7
	}
	return 8 * len(p.Values)
}

// key is equal for plans whose code is equal.
func (p *Plan) key() string {
	if p == nil {
		return ""
	}
	return fmt.Sprint(p.Goid, p.Record, p.Strings, p.Values, p.Texts)
}

// fitsImmediate reports whether a displacement fits an eBPF immediate.
func fitsImmediate(disp int64) bool { return disp >= math.MinInt32 && disp <= math.MaxInt32 }
