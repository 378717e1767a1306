package place

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/debuginfo"
)

// LLVM replaces the variable that a loop counts with by a counter of its own, and goes on saying that the variable is in
// its register, also where the source has changed it and the counter is changed only at the end of the loop
// (indvars, loop-reduce, sinking):
//
//	while (i > 0) {          loop:
//		i--;                 the marker's code: i is one less than the register
//		MARK(i);             add $-1, %eax      of the line and column of i > 0
//	}                            jne loop
//
// What is the source's own increment has a column of its own, behind that of the condition when both are on one line.

// counters returns the registers, as bits of DWARF's numbers, that a loop around the marker changes by no statement of the
// source but the condition. all is how many candidates there are.
func (j *judge) counters(all int) (registers uint32) {
	if j.lines == nil {
		return 0
	}
	if j.opaque || tooMany(len(j.order)+len(j.lines.Rows), all) {
		return ^uint32(0) // not known
	}
	loop := j.loop()
	if loop == nil {
		return 0
	}
	rows, columns := j.rowsOf(loop)
	jumps := map[location]uint16{} // without their columns: the least of those
	for at, r := range rows {
		in := j.code[at]
		line := location{r.File, r.Line, 0}
		if least, ok := jumps[line]; in.jumps && in.falls && (!ok || r.Column < least) {
			jumps[line] = r.Column
		}
	}
	for at, r := range rows {
		line := location{r.File, r.Line, 0}
		keyword, conditional := jumps[line]
		if r.Line == 0 || !conditional {
			continue
		}
		if own := slices.ContainsFunc(columns[line], func(c uint16) bool { return keyword < c && c < r.Column }); own {
			continue
		}
		if n, ok := j.code[at].changes(); ok {
			registers |= 1 << n
		}
	}
	return registers
}

// loop returns the instructions after which the marker is passed again, nil for none.
func (j *judge) loop() map[uint64]bool {
	if len(j.into) == 0 {
		return nil
	}
	walk := func(next func(at uint64) []uint64) map[uint64]bool {
		seen := map[uint64]bool{}
		for work := next(j.address); len(work) > 0; {
			at := work[len(work)-1]
			work = work[:len(work)-1]
			if !seen[at] && j.code[at] != nil {
				seen[at] = true
				work = append(work, next(at)...)
			}
		}
		return seen
	}
	behind := walk(func(at uint64) []uint64 { return slices.Clone(j.next(j.code[at])) })
	if !behind[j.address] {
		return nil
	}
	ahead := walk(func(at uint64) []uint64 {
		next := slices.Clone(j.into[at])
		if in := j.before(at); in != nil && in.falls {
			next = append(next, in.address)
		}
		return next
	})
	for at := range behind {
		if !ahead[at] {
			delete(behind, at)
		}
	}
	return behind
}

// maxColumns bounds the columns of one line.
const maxColumns = 256

// rowsOf returns the row that each instruction belongs to, and the columns that each line of the function has.
func (j *judge) rowsOf(instructions map[uint64]bool) (rows map[uint64]*debuginfo.Row, columns map[location][]uint16) {
	rows, columns = map[uint64]*debuginfo.Row{}, map[location][]uint16{}
	looks := 2 * len(j.order)
	for i := range j.lines.Rows {
		r := &j.lines.Rows[i]
		if r.End || i+1 == len(j.lines.Rows) || !j.has(r.Address) {
			continue
		}
		line := location{r.File, r.Line, 0}
		if len(columns[line]) < maxColumns && !slices.Contains(columns[line], r.Column) {
			columns[line] = append(columns[line], r.Column)
		}
		for _, at := range j.covered(i, &looks) {
			if instructions[at] {
				rows[at] = r
			}
		}
	}
	return rows, columns
}

// covered returns the instructions that a row is of, which is not the last. looks bounds how many all rows cover: each has one, unless the
// table is broken.
func (j *judge) covered(row int, looks *int) []uint64 {
	rows := j.lines.Rows
	from, _ := slices.BinarySearch(j.order, rows[row].Address)
	to, _ := slices.BinarySearch(j.order, rows[row+1].Address)
	if *looks -= to - from; to < from || *looks < 0 {
		return nil
	}
	return j.order[from:to]
}

// changes returns the general register that an instruction changes.
func (in *instruction) changes() (register uint8, ok bool) {
	inst, err := in.decoded()
	if err != nil || leaves[inst.Op] || in.jumps || inst.Op == x86asm.CALL {
		return 0, false
	}
	reg, ok := inst.Args[0].(x86asm.Reg)
	if !ok {
		return 0, false
	}
	return dwarfRegister(reg)
}

// decoded returns the whole of an instruction.
func (in *instruction) decoded() (x86asm.Inst, error) {
	return x86asm.Decode(append(in.code[:len(in.code):len(in.code)], make([]byte, 16)...), 64) // x86asm reads on behind it
}
