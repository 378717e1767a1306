package prog

import (
	"debug/elf"
	"fmt"

	"github.com/waymark-trace/waymark/sdt"
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
