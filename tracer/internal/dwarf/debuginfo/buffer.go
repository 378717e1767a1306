package debuginfo

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// Buffer reads numbers of a little-endian section. Behind the end it reads zeros and has an
// error, so that callers check once.
type Buffer struct {
	Data []byte
	At   int
	Err  error
}

var errCut = errors.New("cut off")

// Len returns how many bytes are left.
func (b *Buffer) Len() int {
	if b.Err != nil {
		return 0
	}
	return len(b.Data) - b.At
}

// Bytes returns the next n bytes, nil when there are fewer.
func (b *Buffer) Bytes(n uint64) []byte {
	if b.Err != nil || n > uint64(len(b.Data)-b.At) {
		b.Err = errCut
		return nil
	}
	s := b.Data[b.At : b.At+int(n)]
	b.At += int(n)
	return s
}

// Uint returns the next size bytes as a number.
func (b *Buffer) Uint(size int) uint64 {
	var full [8]byte
	copy(full[:], b.Bytes(uint64(size)))
	return binary.LittleEndian.Uint64(full[:])
}

// Int does the same with a sign.
func (b *Buffer) Int(size int) int64 {
	shift := 64 - 8*size
	return int64(b.Uint(size)<<shift) >> shift
}

// Uleb returns the next LEB128 number (DWARF 5, 7.6).
func (b *Buffer) Uleb() uint64 {
	if b.Err == nil && b.At < len(b.Data) && b.Data[b.At] < 0x80 { // nearly all
		b.At++
		return uint64(b.Data[b.At-1])
	}
	v, _, _ := b.leb()
	return v
}

// Sleb does the same with a sign.
func (b *Buffer) Sleb() int64 {
	v, shift, last := b.leb()
	if shift < 64 && last&0x40 != 0 {
		v |= ^uint64(0) << shift
	}
	return int64(v)
}

// skipString goes over a string.
func (b *Buffer) skipString() {
	if b.Err == nil {
		if n := bytes.IndexByte(b.Data[b.At:], 0); n >= 0 {
			b.At += n + 1
			return
		}
	}
	b.Err = errCut
}

// skip goes over n bytes.
func (b *Buffer) skip(n int) {
	if b.Err != nil || n > len(b.Data)-b.At {
		b.Err = errCut
		return
	}
	b.At += n
}

func (b *Buffer) leb() (v uint64, shift uint, last byte) {
	for {
		last = byte(b.Uint(1))
		if shift < 64 {
			v |= uint64(last&0x7f) << shift
		}
		if shift += 7; last&0x80 == 0 || b.Err != nil {
			return v, shift, last
		}
	}
}

// String returns the bytes up to the next zero.
func (b *Buffer) String() string {
	if b.Err == nil {
		if n := bytes.IndexByte(b.Data[b.At:], 0); n >= 0 {
			s := string(b.Data[b.At : b.At+n])
			b.At += n + 1
			return s
		}
	}
	b.Err = errCut
	return ""
}
