package prog

import (
	"debug/elf"
	"fmt"

	"github.com/waymark-trace/waymark/internal/filter"
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

// Plan lists the values that events of a site carry, and their locations when the site is hit. Sites
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
// none. shift is the distance in bytes from the site's own address to the probe.
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

// Part is something that a hit has: a part of its key, or a variable of its condition. The zero
// value is one that the site does not have.
type Part struct {
	Source Source
	Value  Value // of FromValue
	Text   Text  // of FromText
	Goid   int   // of FromGoroutine: as Plan.Goid, and not negative
	// Written means that the target has just written the value, so that it is in memory, and programs that
	// may not wait, which cost less, can read it.
	Written bool
}

// Source says where a part comes from.
type Source uint8

// What a hit has in addition to its operands: the process and the thread, in this process's PID namespace,
// the thread's name, the CPU it runs on, the goroutine's number.
const (
	Absent    Source = iota
	FromValue        // a number
	FromText         // a string or []byte
	FromPID
	FromTID
	FromComm
	FromCPU
	FromGoroutine
)

// size is how many bytes of a key it takes.
func (p *Part) size() int {
	switch p.Source {
	case FromText:
		return textSize
	case FromComm:
		return commSize
	}
	return numberSize
}

// mayFault reports whether it is in memory that need not be present, as text of a literal or a
// variable of the program.
func (p *Part) mayFault() bool {
	return p.Source == FromText || p.Source == FromValue && p.Value.reads() && !p.Written
}

// OperandPart returns an operand's value as a part. shift is as OperandPlan's.
func OperandPart(machine elf.Machine, o *sdt.Operand, shift int64) (Part, error) {
	v, err := OperandValue(machine, o, shift)
	if err != nil {
		return Part{}, err
	}
	return Part{Source: FromValue, Value: v}, nil
}

// RecordPart returns a field of a record as a part: a number of size bytes, or the string whose
// pointer and length are there.
func RecordPart(machine elf.Machine, offset, size int, signed, text bool) (Part, error) {
	record, _, err := goRegisters(machine)
	if err != nil {
		return Part{}, err
	}
	at := func(offset, size int, signed bool) Value {
		return Value{Kind: FromMemory, Size: uint8(size), Signed: signed, Base: record, Index: noRegister, Disp: int64(offset)}
	}
	if text {
		return Part{Source: FromText, Text: Text{Pointer: at(offset, 8, false), Length: at(offset+8, 8, false)}}, nil
	}
	return Part{Source: FromValue, Value: at(offset, size, signed), Written: true}, nil
}

// adjacent reports whether pointer and length are one piece of memory, as those of Go are.
func (t *Text) adjacent() bool {
	next := t.Pointer
	next.Disp += 8
	return t.Pointer.Kind == FromMemory && t.Pointer.Size == 8 && next == t.Length
}

// Site is one place to attach to.
type Site struct {
	Offset  uint64 // of the probed instruction in the file
	Counter uint64 // file offset of the reference counter, 0 for none
	// Index is the counter to raise, or the site of an event. It counts from zero in each call of
	// Add; the indices that come back continue those of earlier calls.
	Index uint32
	// Plan is needed for events only.
	Plan *Plan
	// Key is needed for counting by key and for pairs only.
	Key Key
	// End means that the site ends pairs that others begin.
	End bool
	// By is what pairs are grouped by, if they are. At an end it has only fields, and those count that
	// are no fields of the begin: the bits of Own.
	By  Key
	Own int64
	// Where selects the hits that count, nil for all.
	Where *Where
}

// MayFault reports whether a program that counts hits of the site reads memory that need not be present.
func (s *Site) MayFault() bool { return s.Key.mayFault() || s.By.mayFault() || s.Where != nil }

// Same returns equal strings for sites whose hits are counted by equal programs.
func (s *Site) Same() string { return fmt.Sprint(s.End, s.Key, s.By, s.Own) + s.Where.key() }

// Where is the condition under which hits of a site count. It reads its variables itself, so any
// program can begin with it, and a hit that fails costs no more.
type Where struct {
	Filter *filter.Filter
	// Vars are where the filter's variables lie, one for each.
	Vars []Part
}

// key is equal for conditions whose code is equal. All come from one expression, so that values
// of equal kinds in equal places make them so.
func (w *Where) key() string {
	if w == nil {
		return ""
	}
	return fmt.Sprint(w.Filter.Vars, w.Vars)
}

// texts is how many texts are compared.
func (w *Where) texts() int {
	if w == nil {
		return 0
	}
	return len(w.Filter.Patterns)
}
