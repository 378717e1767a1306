package debuginfo

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
)

// Unit is one unit of .debug_info.
type Unit struct {
	First   dwarf.Offset // of its first entry
	End     dwarf.Offset // behind its last
	Version int
	header  dwarf.Offset
	kind    byte // DWARF 5, 7.5.1
	layout  layout
}

// maxUnits bounds how many there are: LLVM itself has some 3000.
const maxUnits = 1 << 18

const (
	unitCompile = 0x01
	unitPartial = 0x03
)

// units reads the headers of all units: debug/dwarf does not say where one ends.
func units(info []byte) ([]Unit, error) {
	var all []Unit
	for at := 0; at < len(info); {
		u, err := unit(info, at)
		if err != nil {
			return nil, fmt.Errorf("unit at %#x of .debug_info: %w", at, err)
		}
		if len(all) == maxUnits {
			return nil, fmt.Errorf("more than %d units", maxUnits)
		}
		if u.kind == unitCompile || u.kind == unitPartial {
			all = append(all, u)
		}
		at = int(u.End)
	}
	return all, nil
}

func unit(info []byte, at int) (u Unit, err error) {
	e, b := binary.LittleEndian, info[at:]
	if len(b) < 24 {
		return u, errors.New("cut off")
	}
	size, n, word := uint64(e.Uint32(b)), 4, 4
	if size == 0xffffffff {
		size, n, word = e.Uint64(b[4:]), 12, 8
	}
	if size > uint64(len(b)-n) || size < 8 {
		return u, errors.New("longer than what is left")
	}
	u.header, u.End = dwarf.Offset(at), dwarf.Offset(at+n+int(size))
	u.Version, u.kind = int(e.Uint16(b[n:])), unitCompile
	head := n + 2 + word + 1 // version, abbreviations, size of addresses
	h := Buffer{Data: b, At: n + 2}
	var abbrevs, address uint64
	if u.Version >= 5 {
		head++
		u.kind, address, abbrevs = byte(h.Uint(1)), h.Uint(1), h.Uint(word)
	} else {
		abbrevs, address = h.Uint(word), h.Uint(1)
	}
	u.layout = layout{abbrevs, word, int(address), u.Version}
	if u.First = dwarf.Offset(at + head); u.First > u.End {
		return u, errors.New("shorter than its header")
	}
	return u, nil
}

// Entry returns the entry of the unit itself.
func (f *File) Entry(u *Unit) (*dwarf.Entry, error) {
	return f.EntryAt(u.First)
}

// Header is where the unit begins: what offsets within it are relative to.
func (u *Unit) Header() dwarf.Offset { return u.header }
