// Package ccode finds the instructions that stand for markers which leave none of their own.
//
// What is left is an address: that of a label among the assembly that makes the record, or a row
// in the line table; in both cases of the instruction that comes next.
// That instruction is the marker's place if it is executed whenever the marker is passed, and at
// no other time. It is executed at other times when a jump leads to it that comes from past the
// marker, as in
//
//	if (n > 3)
//		MARK;
//	next();
//
// where it is that of next's first instruction. Machine code does not say whether a jump's target
// is meant to be ahead of the marker or behind, so an address is a place only
//
//   - when there is one way to come to it: from the instruction before, or by one jump; or
//   - when there are besides only the jumps that begin another pass of a loop that the marker is
//     in: those that are not reached without passing the address, and belong to a statement of the
//     same function that is on a line above the marker, which is the loop's head; or
//   - when the marker has an instruction of its own there, the nop of an anchored one.
//
// All other addresses are refused, with the reason. The second of these is not a proof: a compiler that
// knows the outcome of a condition around the marker for every pass but the first may have
// the others begin behind the marker.
//
// RedZones reads code for another reason: it finds the functions that may have variables below their stack pointer.
package ccode

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// Mark is a marker to find.
type Mark struct {
	File string // as the compiler was given it
	Line int
	// At are the addresses that the marker's own section says, one for each copy; nil when it
	// says none. Then it is looked for by its line.
	At []Address
	// Proven says that these are its places.
	Proven bool
	// Functions are the names of those that it is in, as the linker calls them; nil, it is known
	// by the line.
	Functions []string
}

// Address is one copy of a marker, and how many bytes of code it has.
type Address struct {
	Address uint64
	Size    int
}

// Place is one instruction that stands for one copy of a mark. Several copies can have the same.
type Place struct {
	Address uint64 // of the instruction to probe
	// At is where the marker itself is: the same address, or one with nothing between that does anything.
	At   debuginfo.Position
	Cost Cost
	// Instruction is the code there.
	Instruction []byte
	// Code is the innermost scope that the instruction is in, nil when none is known.
	Code *debuginfo.Scope
	// Scope is that in which the marker's variables are looked up, nil for none: see NoScope.
	Scope   *debuginfo.Scope
	NoScope error
}

// Refusal is an instruction that a marker is at, and that is not its place.
type Refusal struct {
	Address uint64
	Code    *debuginfo.Scope
	Scope   *debuginfo.Scope // of the marker's function there, nil when that is not known
	Err     error
}

// Found is what there is of a mark.
type Found struct {
	Places  []Place // ascending
	Refused []Refusal
}

// Function returns what the source calls the function that a mark is in, "" when that is not known.
// Of several, instances of a template, it is that of the first address.
func (x *Found) Function(f *debuginfo.File) string {
	var scope *debuginfo.Scope
	first := uint64(math.MaxUint64)
	for _, p := range x.Places {
		if p.Scope != nil && p.At.Address <= first {
			scope, first = p.Scope, p.At.Address
		}
	}
	for _, r := range x.Refused {
		if r.Scope != nil && r.Address <= first {
			scope, first = r.Scope, r.Address
		}
	}
	if scope == nil {
		return ""
	}
	return f.Name(scope.Function())
}

// Functions returns for each mark what Found.Function does, without looking at code.
func Functions(f *debuginfo.File, marks []Mark) (names []string, err error) {
	found := make([]Found, len(marks))
	names = make([]string, len(marks))
	err = debuginfo.Guard(func() error {
		s := newSearch(f, marks, found)
		s.outline = true
		if err := s.all(); err != nil {
			return err
		}
		for i := range found {
			names[i] = found[i].Function(f)
		}
		return nil
	})
	return names, err
}

// maxAddresses bounds the addresses of all marks: inlining and unrolling make copies.
const maxAddresses = 1 << 18

// Find returns what there is of each mark. It reads what the debugging information has about the
// functions that marks are in, and the line tables of their units.
func Find(f *debuginfo.File, marks []Mark) (found []Found, err error) {
	found = make([]Found, len(marks))
	err = debuginfo.Guard(func() error {
		return newSearch(f, marks, found).all()
	})
	for i := range found {
		slices.SortStableFunc(found[i].Places, func(a, b Place) int { return cmp.Compare(a.Address, b.Address) })
		slices.SortStableFunc(found[i].Refused, func(a, b Refusal) int { return cmp.Compare(a.Address, b.Address) })
	}
	return found, err
}

// cheapest returns the best instruction to probe among those that stand for an address: it, nops
// that lie before it and lead nowhere else, and what follows when it does nothing.
func (fl *flow) cheapest(address uint64) uint64 {
	for at := address; ; {
		in := fl.code[at]
		if in.cost() == Emulated && !in.isNop5() {
			return at
		}
		before := fl.before(at)
		if before == nil || len(fl.into[at]) > 0 || !isNop(before.code) || fl.opaque {
			break
		}
		at = before.address
	}
	in := fl.code[address]
	next := fl.code[address+uint64(in.size)]
	if !in.isNop5() || next == nil || next.isNop5() || next.cost() == Refused || fl.opaque {
		return address
	}
	if ways := fl.into[next.address]; len(ways) > 1 || len(ways) == 1 && ways[0] != address {
		return address
	}
	return next.address
}

// isNop5 reports whether an instruction is a nop of five bytes, or a jump to what follows, which
// is one too: kernels from Linux 6.18 to 7.1 write below the stack pointer for it. See
// tracer.ErrRedZone.
func (in *instruction) isNop5() bool {
	return in.size == 5 && NopLength(in.code) == 5
}

// judge decides about one candidate.
type judge struct {
	*flow
	fn    *debuginfo.Scope
	lines *debuginfo.Lines // may be nil
	candidate
}

// check returns why the address is not a place, nil when it is.
func (j *judge) check() error {
	in := j.code[j.address]
	if in == nil {
		return errors.New("the line table leads into an instruction")
	}
	if in.cost() == Refused {
		return fmt.Errorf("the kernel takes no probe on an instruction with the prefix %#x", in.prefix)
	}
	if j.size > 0 {
		return nil // it is the marker's own
	}
	if j.opaque {
		return errOpaque
	}
	jumps, ways := j.into[j.address], j.ways(j.address)
	if ways <= 1 {
		return nil
	}
	if ways > maxJumps {
		return fmt.Errorf("there are %d ways to it", ways)
	}
	first := j.bypasses(j.address, jumps)
	if others := ways - len(jumps) + len(first); others > 1 {
		return fmt.Errorf("there are %d ways to it, and not all need pass the marker: one is the jump at %#x%s", others, first[0], j.lineText(first[0]))
	}
	own := j.fn.At(j.address).Function()
	for _, at := range jumps {
		if slices.Contains(first, at) {
			continue
		}
		file, line := j.line(at)
		if j.fn.At(at).Function() != own || file < 0 || j.lines.Names[file] != j.file || line >= j.mark.Line {
			return fmt.Errorf("a loop begins there, and the marker may stand before it: it goes on from %#x%s", at, j.lineText(at))
		}
	}
	return nil
}

// maxJumps bounds the jumps to one place that are looked at; compilers make few.
const maxJumps = 64

// line returns the row that an instruction belongs to.
func (j *judge) line(address uint64) (file, line int) {
	file = -1
	if j.lines == nil {
		return file, 0
	}
	rows := j.lines.Rows
	for i := range rows {
		// The last of several rows at one address counts. Sequences are short; functions few.
		if r := &rows[i]; !r.End && r.Address <= address && i+1 < len(rows) && rows[i+1].Address > address {
			return int(r.File), int(r.Line)
		}
	}
	return file, 0
}

func (j *judge) lineText(address uint64) string {
	if file, line := j.line(address); file >= 0 && line > 0 {
		return fmt.Sprintf(", of line %d", line)
	}
	return ""
}
