package debuginfo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// frameTable is .eh_frame (LSB 5.0, 10.6) or .debug_frame (DWARF 5, 6.4).
type frameTable struct {
	data    []byte
	address uint64
	eh      bool

	functions []frameEntry // by address
	err       error        // why there are no more
}

// frameEntry is where the table has what it says of one function.
type frameEntry struct {
	begin, size uint64
	at          int // of the entry, in bytes
	body        int // of what follows its addresses
	cie         *cie
}

// newFrameTable notes once where each function's entry is: large programs have a hundred thousand,
// and are asked about thousands of places.
func newFrameTable(data []byte, address uint64, eh bool) *frameTable {
	t := &frameTable{data: data, address: address, eh: eh}
	shared := map[int]*cie{}
	for at := 0; at+8 < len(t.data) && t.err == nil; {
		body, id, next, err := t.entry(at)
		switch {
		case err != nil:
			t.err = err
		case body == nil: // the end of what one object file brought along
		case t.eh && id != 0:
			t.err = t.function(at, body, body.At-4-int(id), shared) // back from where the number lies
		case !t.eh && id != 0xffffffff:
			t.err = t.function(at, body, int(id), shared)
		}
		at = next
	}
	slices.SortStableFunc(t.functions, func(a, b frameEntry) int { return cmp.Compare(a.begin, b.begin) })
	return t
}

// function notes one function's entry.
func (t *frameTable) function(at int, b *Buffer, common int, shared map[int]*cie) (err error) {
	if common < 0 || common >= len(t.data) {
		return fmt.Errorf("unwind entry at %#x: its common entry is outside", at)
	}
	e := frameEntry{at: at, cie: shared[common]}
	if e.cie == nil {
		if e.cie, err = t.common(common); err != nil {
			return err
		}
		shared[common] = e.cie
	}
	e.begin = t.pointer(b, e.cie.encoding)
	e.size = t.pointer(b, e.cie.encoding&0x0f)
	if b.Err != nil {
		return fmt.Errorf("unwind entry at %#x: %w", at, b.Err)
	}
	e.body = b.At
	t.functions = append(t.functions, e)
	return nil
}

// entryOf returns the entry of the function at an address, or nil.
func (t *frameTable) entryOf(pc uint64) *frameEntry {
	// The last that begins at or before it: functions do not overlap.
	i, _ := slices.BinarySearchFunc(t.functions, pc, func(e frameEntry, pc uint64) int {
		if e.begin <= pc {
			return -1
		}
		return 1
	})
	if i == 0 || pc-t.functions[i-1].begin >= t.functions[i-1].size {
		return nil
	}
	return &t.functions[i-1]
}

// find returns the frame's address at an address.
func (t *frameTable) find(pc uint64) (CFA, error) {
	e := t.entryOf(pc)
	if e == nil {
		return CFA{}, cmp.Or(t.err, errNoCFA)
	}
	b, _, _, err := t.entry(e.at)
	if err != nil {
		return CFA{}, err
	}
	if b == nil {
		return CFA{}, errors.New("unwind tables changed")
	}
	if b.At = e.body; e.cie.sized {
		b.Bytes(b.Uleb())
	}
	return e.cie.run(b, e.begin, pc)
}
