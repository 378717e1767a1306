package debuginfo

import (
	"errors"
	"fmt"
)

// CFA is the canonical frame address: a register, by DWARF's number, and an offset.
type CFA struct {
	Register uint64
	Offset   int64
}

var errNoCFA = errors.New("the unwind tables say nothing about the frame at this address")

// CFA returns the canonical frame address at an address: by .eh_frame of the program, else by
// .debug_frame, which is what Go has.
func (f *File) CFA(pc uint64) (CFA, error) {
	if s := f.program.Section(".eh_frame"); s != nil {
		if f.ehFrame == nil {
			data, err := f.program.Contents(s)
			if err != nil {
				return CFA{}, err
			}
			f.ehFrame = newFrameTable(data, s.Addr, true)
		}
		if c, err := f.ehFrame.find(pc); !errors.Is(err, errNoCFA) {
			return c, err
		}
	}
	if f.debugFrame == nil {
		data, err := f.Section("frame")
		if err != nil {
			return CFA{}, err
		}
		f.debugFrame = newFrameTable(data, 0, false)
	}
	return f.debugFrame.find(pc)
}

// cie is what the entries of many functions have in common.
type cie struct {
	code     uint64
	data     int64
	encoding byte // of the addresses in its entries
	sized    bool // its entries have augmentation data
	initial  []byte
}

// entry returns what follows the head of the entry at a place.
func (t *frameTable) entry(at int) (body *Buffer, id uint64, next int, err error) {
	b := &Buffer{Data: t.data, At: at}
	size := b.Uint(4)
	if size == 0 {
		return nil, 0, at + 4, nil
	}
	if size == 0xffffffff || size < 4 || size > uint64(b.Len()) {
		return nil, 0, 0, fmt.Errorf("unwind entry at %#x: of %d bytes", at, size)
	}
	next = b.At + int(size)
	id = b.Uint(4)
	b.Data = t.data[:next]
	return b, id, next, b.Err
}

func (t *frameTable) common(at int) (*cie, error) {
	b, id, _, err := t.entry(at)
	if err != nil {
		return nil, err
	}
	if b == nil || t.eh && id != 0 || !t.eh && id != 0xffffffff {
		return nil, fmt.Errorf("unwind entry at %#x: not a common one", at)
	}
	c := &cie{}
	version := b.Uint(1)
	augmentation := b.String()
	if version == 4 {
		b.Bytes(2) // sizes of addresses and segments
	}
	c.code, c.data = b.Uleb(), b.Sleb()
	if version == 1 {
		b.Bytes(1)
	} else {
		b.Uleb()
	}
	if augmentation != "" && augmentation[0] == 'z' {
		c.sized = true
		more := &Buffer{Data: b.Bytes(b.Uleb())}
		for _, a := range augmentation[1:] {
			switch a {
			case 'L':
				more.Bytes(1)
			case 'P':
				t.pointer(more, byte(more.Uint(1))&0x0f)
			case 'R':
				c.encoding = byte(more.Uint(1))
			}
		}
		b.Err = errors.Join(b.Err, more.Err)
	} else if augmentation != "" {
		return nil, fmt.Errorf("unwind entry at %#x: augmented by %.10q", at, augmentation)
	}
	c.initial = b.Bytes(uint64(b.Len()))
	if b.Err != nil {
		return nil, fmt.Errorf("unwind entry at %#x: %w", at, b.Err)
	}
	return c, nil
}

// pointer reads an address as LSB 5.0, 10.5.1 encodes it.
func (t *frameTable) pointer(b *Buffer, encoding byte) uint64 {
	at := t.address + uint64(b.At)
	var v uint64
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
		v = b.Uint(8)
	case 0x02:
		v = b.Uint(2)
	case 0x03:
		v = b.Uint(4)
	case 0x0a:
		v = uint64(b.Int(2))
	case 0x0b:
		v = uint64(b.Int(4))
	default:
		b.Err = fmt.Errorf("addresses encoded as %#x", encoding)
	}
	switch encoding & 0x70 {
	case 0x00:
	case 0x10:
		v += at
	default:
		b.Err = fmt.Errorf("addresses encoded as %#x", encoding)
	}
	return v
}
