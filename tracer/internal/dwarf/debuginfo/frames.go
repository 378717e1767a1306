package debuginfo

import (
	"github.com/waymark-trace/waymark/internal/elffile"
)

// Frames are the unwind tables of a program. Stripped programs have them too.
type Frames struct{ table *frameTable }

// ReadFrames reads .eh_frame, which may be missing. The Frames are valid until im forgets its contents.
func ReadFrames(im *elffile.Image) (f *Frames, err error) {
	f = &Frames{}
	err = Guard(func() error {
		s := im.Section(".eh_frame")
		if s == nil {
			return nil
		}
		data, err := im.Contents(s)
		if err == nil {
			f.table = newFrameTable(data, s.Addr, true)
		}
		return err
	})
	return f, err
}

// Extent returns the range of addresses that the table's entry for an address covers: a function, or one
// of the parts that its compiler placed apart. ok is false without an entry.
func (f *Frames) Extent(pc uint64) (begin, end uint64, ok bool) {
	if f.table == nil {
		return 0, 0, false
	}
	e := f.table.entryOf(pc)
	if e == nil || e.begin+e.size < e.begin {
		return 0, 0, false
	}
	return e.begin, e.begin + e.size, true
}

// CFA returns the canonical frame address at an address.
func (f *Frames) CFA(pc uint64) (c CFA, err error) {
	if f.table == nil {
		return CFA{}, errNoCFA
	}
	err = Guard(func() error {
		c, err = f.table.find(pc)
		return err
	})
	return c, err
}
