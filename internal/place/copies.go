package place

import "fmt"

// A compiler that knows the outcome of a condition behind a marker from the second pass of a loop on has the
// first pass made of copies, and goes on with the others, at an address of which the line table says that it is the
// marker's:
//
//	for (; i < n; i++) {             first:  the marker's code and its body's
//		MARK;                            jmp behind
//		if (p > 5)               again:  the marker's
//			body();          behind: i++, i < n
//	}                                        jl again
//
// There is nothing between again and behind, and so one instruction for both. What tells is that a copy of
// the marker leads there before a statement above the marker begins, which is the head of the loop.

// afterCopy returns an error when another copy leads to the address in the same pass; loops are the jumps
// that begin another.
func (j *judge) afterCopy(loops []uint64) error {
	if len(j.mark.At) < 2 || j.lines == nil || tooMany(len(j.lines.Rows), len(j.mark.At)) {
		return nil
	}
	heads := map[uint64]bool{} // addresses at which a statement above the marker begins, ahead of the marker or without it
	behind := map[uint64]bool{}
	passed := map[uint64]bool{}
	for i := range j.lines.Rows {
		r := &j.lines.Rows[i]
		if r.End || !r.Stmt || r.File < 0 || j.lines.Names[r.File] != j.file || !j.has(r.Address) {
			continue
		}
		switch {
		case int(r.Line) == j.mark.Line:
			passed[r.Address] = true
		case int(r.Line) < j.mark.Line && passed[r.Address]:
			behind[r.Address] = true
		case int(r.Line) < j.mark.Line:
			heads[r.Address] = true
		}
	}
	if heads[j.address] {
		return nil
	}
	excluded := map[uint64]bool{}
	for _, at := range loops {
		excluded[at] = true
	}
	seen := map[uint64]bool{}
	for _, other := range j.mark.At {
		if other.Address == j.address || j.code[other.Address] == nil || behind[other.Address] {
			continue
		}
		for work := []uint64{other.Address}; len(work) > 0; {
			at := work[len(work)-1]
			work = work[:len(work)-1]
			for _, to := range j.next(j.code[at]) {
				if to == j.address && !excluded[at] {
					return fmt.Errorf("another copy of the marker, at %#x, leads to it in the same pass of the loop", other.Address)
				}
				if j.code[to] != nil && !seen[to] && !heads[to] && !behind[to] && to != j.address {
					seen[to] = true
					work = append(work, to)
				}
			}
		}
	}
	return nil
}

// beginsBehind reports whether a statement above a line begins at the address, behind the marker: then it may be that
// one's loop which goes on from the line, `do`, and the marker stands behind an earlier one that left no instruction.
func (j *judge) beginsBehind(line int) bool {
	passed := false
	for i := range j.lines.Rows {
		r := &j.lines.Rows[i]
		if r.Address != j.address || r.End || !r.Stmt || r.File < 0 || j.lines.Names[r.File] != j.file {
			continue
		}
		if passed && int(r.Line) < line {
			return true
		}
		passed = passed || int(r.Line) == j.mark.Line
	}
	return false
}
