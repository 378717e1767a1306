package variable

import (
	"debug/dwarf"
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/tracer/internal/dwarf/debuginfo"
)

// unitInfo is what the entries of one unit refer to.
type unitInfo struct {
	*debuginfo.Unit
	file     *debuginfo.File
	low      uint64 // what addresses in lists are relative to
	addrBase uint64
	listBase uint64
	types    map[dwarf.Offset]*Type

	isGo, isGCC, isCPlusPlus bool
}

func newUnit(f *debuginfo.File, u *debuginfo.Unit, e *dwarf.Entry) *unitInfo {
	info := &unitInfo{Unit: u, file: f, types: map[dwarf.Offset]*Type{}}
	info.low, _ = e.Val(dwarf.AttrLowpc).(uint64)
	switch language, _ := e.Val(dwarf.AttrLanguage).(int64); language {
	case langGo:
		info.isGo = true
	case langCPlusPlus, langCPlusPlus03, langCPlusPlus11, langCPlusPlus14, langCPlusPlus17, langCPlusPlus20:
		info.isCPlusPlus = true
	}
	info.isGCC = debuginfo.ByGCC(e)
	base, _ := e.Val(dwarf.AttrAddrBase).(int64)
	info.addrBase = uint64(base)
	base, _ = e.Val(dwarf.AttrLoclistsBase).(int64)
	info.listBase = uint64(base)
	return info
}

// address returns an address of .debug_addr (DWARF 5, 7.27).
func (u *unitInfo) address(index uint64) (uint64, error) {
	data, err := u.file.Section("addr")
	if err != nil {
		return 0, err
	}
	if size := uint64(len(data)); u.addrBase > size || index >= (size-u.addrBase)/8 {
		return 0, fmt.Errorf("address %d of .debug_addr is outside", index)
	}
	b := debuginfo.Buffer{Data: data, At: int(u.addrBase + 8*index)}
	return b.Uint(8), b.Err
}

// point is a debuginfo.Position with one view.
type point struct {
	address uint64
	view    int
}

// bounds are where an entry of a list begins and ends.
type bounds struct{ from, to point }

// has reports whether an entry is for a point.
func (b bounds) has(p point, viewed bool) bool {
	if !viewed || p.view == debuginfo.NoView {
		return b.from.address <= p.address && p.address < b.to.address
	}
	before := func(a, b point) bool { return a.address < b.address || a.address == b.address && a.view < b.view }
	return !before(p, b.from) && before(p, b.to)
}

// views reads the views of a list, one pair for each entry.
type views struct{ *debuginfo.Buffer }

func (v views) next(from, to uint64) bounds {
	b := bounds{point{address: from}, point{address: to}}
	if v.Buffer != nil {
		b.from.view, b.to.view = int(min(v.Uleb(), maxView)), int(min(v.Uleb(), maxView))
	}
	return b
}

const maxView = 1 << 20

const attrLocviews = dwarf.Attr(0x2137) // DW_AT_GNU_locviews

// viewsOf returns the views that belong to an entry's list of locations, none when it has no such.
func (u *unitInfo) viewsOf(e *dwarf.Entry, attribute dwarf.Attr) (views, error) {
	at, ok := e.Val(attrLocviews).(int64)
	if !ok || attribute != dwarf.AttrLocation {
		return views{}, nil
	}
	name := "loc"
	if u.Version >= 5 {
		name = "loclists"
	}
	b, err := u.section(name, uint64(at))
	return views{b}, err
}

// errEither is of a variable that has a new value at the very address of the marker, where
// nothing says whether it is assigned ahead of the marker or behind.
var errEither = unavailable("it is assigned at this address, ahead of the marker or behind")

// expression returns the expression that an attribute has at a point, nil for none there.
func (u *unitInfo) expression(e *dwarf.Entry, attribute dwarf.Attr, pc point) ([]byte, error) {
	f := e.AttrField(attribute)
	if f == nil {
		return nil, nil
	}
	switch v := f.Val.(type) {
	case []byte:
		return v, nil
	case int64: // an offset
		seen, err := u.viewsOf(e, attribute)
		if err != nil {
			return nil, err
		}
		if u.Version >= 5 {
			return u.find(uint64(v), seen, pc)
		}
		return u.findOld(uint64(v), seen, pc)
	case uint64: // an index into the unit's lists
		at, err := u.list(v)
		if err != nil {
			return nil, err
		}
		return u.find(at, views{}, pc)
	}
	return nil, fmt.Errorf("a location of class %v", f.Class)
}

// list returns where a list begins: offsets, relative to the first of them, precede the lists.
// debug/dwarf does not follow these.
func (u *unitInfo) list(index uint64) (uint64, error) {
	data, err := u.file.Section("loclists")
	if err != nil {
		return 0, err
	}
	if size := uint64(len(data)); u.listBase > size || index >= (size-u.listBase)/4 {
		return 0, fmt.Errorf("list of locations number %d is outside", index)
	}
	b := debuginfo.Buffer{Data: data, At: int(u.listBase + 4*index)}
	return u.listBase + b.Uint(4), b.Err
}

// maxEntries bounds a list.
const maxEntries = 1 << 16

var errList = errors.New("a list of locations that has no end")

// findOld finds the expression of a list in .debug_loc.
func (u *unitInfo) findOld(at uint64, seen views, pc point) (found []byte, err error) {
	viewed := seen.Buffer != nil
	err = u.eachOld(at, seen, func(n entry) bool {
		if n.has(pc, viewed) {
			found = n.certain(viewed, pc)
			return false
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// eachOld calls visit for the entries of a list in .debug_loc until it returns false: DWARF 4, 2.6.2.
func (u *unitInfo) eachOld(at uint64, seen views, visit func(entry) bool) error {
	b, err := u.section("loc", at)
	if err != nil {
		return err
	}
	base := u.low
	for range maxEntries {
		from, to := b.Uint(8), b.Uint(8)
		switch {
		case b.Err != nil:
			return fmt.Errorf("list of locations at %#x: %w", at, b.Err)
		case from == 0 && to == 0:
			return nil
		case from == ^uint64(0):
			base = to
			continue
		}
		expr := b.Bytes(b.Uint(2))
		if b.Err != nil {
			return fmt.Errorf("list of locations at %#x: %w", at, b.Err)
		}
		if !visit(entry{seen.next(base+from, base+to), expr}) {
			return nil
		}
	}
	return errList
}

func (u *unitInfo) section(name string, at uint64) (*debuginfo.Buffer, error) {
	data, err := u.file.Section(name)
	if err != nil {
		return nil, err
	}
	if at > uint64(len(data)) {
		return nil, fmt.Errorf("list of locations at %#x is outside", at)
	}
	return &debuginfo.Buffer{Data: data, At: int(at)}, nil
}

// entry is one of a list.
type entry struct {
	bounds
	expr []byte
}

// certain returns the expression of an entry, or errEither's when it begins with a statement of the marker's
// address and it is not known which of these statements the marker is.
func (n *entry) certain(viewed bool, pc point) []byte {
	if viewed && pc.view == debuginfo.NoView && n.from.address == pc.address && n.from.view > 0 {
		return []byte{opEither}
	}
	return n.expr
}

// bounded reports whether an entry is one of a location with bounds.
func bounded(kind uint64) bool {
	switch kind {
	case lleStartxEndx, lleStartxLength, lleOffsetPair, lleStartEnd, lleStartLength:
		return true
	}
	return false
}

// Entries of lists: DWARF 5, 7.7.3, and gcc's pairs of views.
const (
	lleEnd = iota
	lleBaseAddressx
	lleStartxEndx
	lleStartxLength
	lleOffsetPair
	lleDefault
	lleBaseAddress
	lleStartEnd
	lleStartLength
	lleViewPair
)

// find finds the expression of a list in .debug_loclists.
func (u *unitInfo) find(at uint64, seen views, pc point) (found []byte, err error) {
	viewed, done := seen.Buffer != nil, false
	standard, err := u.each(at, seen, func(n entry) bool {
		if done = n.has(pc, viewed); done {
			found = n.certain(viewed, pc)
		}
		return !done
	})
	if err != nil || done {
		return found, err
	}
	return standard, nil
}

// each calls visit for the entries of a list in .debug_loclists until it returns false, and returns the expression
// for all other addresses, nil for none.
func (u *unitInfo) each(at uint64, seen views, visit func(entry) bool) (standard []byte, err error) {
	b, err := u.section("loclists", at)
	if err != nil {
		return nil, err
	}
	base := u.low
	for range maxEntries {
		var from, to uint64
		var failed error
		indexed := func() uint64 {
			a, err := u.address(b.Uleb())
			failed = errors.Join(failed, err)
			return a
		}
		kind := b.Uint(1)
		switch kind {
		case lleEnd:
			if b.Err == nil {
				return standard, nil
			}
		case lleBaseAddressx:
			base = indexed()
		case lleBaseAddress:
			base = b.Uint(8)
		case lleStartxEndx:
			from, to = indexed(), indexed()
		case lleStartxLength:
			from = indexed()
			to = from + b.Uleb()
		case lleOffsetPair:
			from, to = base+b.Uleb(), base+b.Uleb()
		case lleStartEnd:
			from, to = b.Uint(8), b.Uint(8)
		case lleStartLength:
			from = b.Uint(8)
			to = from + b.Uleb()
		case lleViewPair:
			b.Uleb()
			b.Uleb()
		case lleDefault:
		default:
			failed = fmt.Errorf("an entry of kind %#x", kind)
		}
		var expr []byte
		switch kind {
		case lleBaseAddressx, lleBaseAddress, lleViewPair, lleEnd:
		default:
			expr = b.Bytes(b.Uleb())
		}
		if failed = errors.Join(failed, b.Err); failed != nil {
			return nil, fmt.Errorf("list of locations at %#x: %w", at, failed)
		}
		if kind == lleDefault {
			standard = expr
		} else if bounded(kind) && !visit(entry{seen.next(from, to), expr}) {
			return standard, nil
		}
	}
	return nil, errList
}

// Languages: DWARF 5, 7.12, and its later additions.
const (
	langCPlusPlus   = 0x0004
	langGo          = 0x0016
	langCPlusPlus03 = 0x0019
	langCPlusPlus11 = 0x001a
	langCPlusPlus14 = 0x0021
	langCPlusPlus17 = 0x002a
	langCPlusPlus20 = 0x002b
)
