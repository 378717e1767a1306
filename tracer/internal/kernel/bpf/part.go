package bpf

import (
	"debug/elf"

	"github.com/waymark-trace/waymark/sdt"
)

// Part is something that a hit has: a part of its key, or a variable of its condition. The zero
// value is one that the site does not have.
type Part struct {
	Source Source
	Value  Value // of FromValue
	Text   Text  // of FromText
	Goid   int   // of FromGoroutine: as Plan.Goid, and not negative
	// Written says that the program has just written where the value is: it is present, and programs that
	// may not wait for memory, which cost less, can read it.
	Written bool
}

// Source says where a part comes from.
type Source uint8

// What a hit has besides its operands: the process and the thread, in this process's PID namespace,
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
