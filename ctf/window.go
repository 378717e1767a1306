package ctf

import (
	"encoding/binary"
	"errors"
	"io"
)

// windowSize is how much of a file is in memory.
const windowSize = 128 << 10

// window reads fields out of a file. Positions are bits.
type window struct {
	file  io.ReaderAt
	room  int // for how much of it, at most windowSize
	buf   []byte
	start int64 // of buf in the file, in bytes
	valid int   // bytes of buf

	base int64 // where the packet begins, to which alignments are relative
	at   int64 // the next byte
	end  int64 // of the readable part
}

var errShort = errors.New("the packet's content ends here")

// load makes bytes from an offset available, at most windowSize.
func (w *window) load(offset int64, n int) ([]byte, error) {
	if offset < w.start || offset+int64(n) > w.start+int64(w.valid) {
		if w.buf == nil {
			w.buf = make([]byte, w.room)
		}
		read, err := w.file.ReadAt(w.buf, offset)
		w.start, w.valid = offset, read
		if n > read {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	i := int(offset - w.start)
	return w.buf[i : i+n], nil
}

func (w *window) align(to int64) error {
	rest := (w.at - w.base) & (to - 1)
	if rest == 0 {
		return nil
	}
	if to-rest > w.end-w.at {
		return errShort
	}
	w.at += to - rest
	return nil
}

// bits reads a number of 1 to 64 bits.
func (w *window) bits(size int, big bool) (uint64, error) {
	if int64(size) > w.end-w.at {
		return 0, errShort
	}
	shift := int(w.at & 7)
	if i := w.at>>3 - w.start; !big && shift+size <= 64 && i >= 0 && i+8 <= int64(w.valid) {
		w.at += int64(size)
		return binary.LittleEndian.Uint64(w.buf[i:]) >> shift << (64 - size) >> (64 - size), nil
	}
	b, err := w.load(w.at>>3, (shift+size+7)/8)
	if err != nil {
		return 0, err
	}
	w.at += int64(size)
	if shift == 0 && size == 64 && big {
		return binary.BigEndian.Uint64(b), nil
	}
	var n uint64
	if big { // the first byte has the highest bits
		var high uint64 // the bits of a ninth byte that do not fit into eight
		for i, c := range b {
			if i == 0 {
				c &= 0xff >> shift
			}
			high, n = n>>56, n<<8|uint64(c)
		}
		drop := 8*len(b) - shift - size
		if len(b) == 9 {
			return high<<(64-drop) | n>>drop, nil
		}
		return n >> drop, nil
	}
	for i, c := range b {
		if i == 0 {
			n = uint64(c) >> shift
		} else {
			n |= uint64(c) << (8*i - shift)
		}
	}
	if size < 64 {
		n &= 1<<size - 1
	}
	return n, nil
}

// bytes appends whole bytes to to.
func (w *window) bytes(to []byte, n int64) ([]byte, error) {
	if n > (w.end-w.at)/8 {
		return to, errShort
	}
	for n > 0 {
		b, err := w.load(w.at>>3, int(min(n, int64(w.room))))
		if err != nil {
			return to, err
		}
		to = append(to, b...)
		n -= int64(len(b))
		w.at += 8 * int64(len(b))
	}
	return to, nil
}
