package bpf

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// A key in a map, in the byte order of the machine:
//
//	0  index   uint32  the site's index
//	4  failed  uint16  bit i: part i could not be read, and is zero
//	6  absent  uint16  bit i: the site has no part i, and it is zero
//	8  parts, one after the other, each as long as the longest of that part among all sites
//
// A number is 8 bytes, extended by its sign; a thread's name is 16; a string is its length in
// full and its first KeyText bytes, the rest of them zero. One that a NUL ends has KeyText-1
// bytes and the length KeyText when it goes on after them.
const (
	offKeyFailed = 4
	offKeyAbsent = 6
	offKeyParts  = 8
)

const (
	// KeyText is how many bytes of a string are kept in a key.
	KeyText = 64
	// MaxParts is how many parts a key may have.
	MaxParts = 8
	// MaxKey is the most bytes of a key, four strings: it lies on the program's 512-byte stack.
	MaxKey = offKeyParts + 4*textSize

	numberSize = 8
	textSize   = 8 + KeyText
)

// Key says what hits of a site are told apart by.
type Key []Part

// keyLayout is where the parts of keys lie, and how long a key is.
type keyLayout struct {
	at   []int16
	size int
}

// layoutOf returns the layout that holds the keys of all sites.
func layoutOf(keys []Key) (keyLayout, error) {
	l := keyLayout{size: offKeyParts}
	if len(keys) == 0 || len(keys[0]) > MaxParts {
		return l, fmt.Errorf("a key of more than %d parts", MaxParts)
	}
	for i := range keys[0] {
		size := numberSize
		for _, k := range keys {
			if len(k) != len(keys[0]) {
				return l, errors.New("keys of different length")
			}
			size = max(size, k[i].size())
		}
		l.at = append(l.at, int16(l.size))
		l.size += size
	}
	if l.size > MaxKey {
		return l, fmt.Errorf("a key of %d bytes: at most %d, which four strings take", l.size, MaxKey)
	}
	return l, nil
}

// holds reports whether keys of another layout fit: each part into the room of this one's.
func (l keyLayout) holds(other keyLayout) bool {
	if len(l.at) != len(other.at) {
		return false
	}
	for i := range l.at {
		if l.room(i) < other.room(i) {
			return false
		}
	}
	return true
}

// room is how many bytes part i has.
func (l keyLayout) room(i int) int {
	end := l.size
	if i+1 < len(l.at) {
		end = int(l.at[i+1])
	}
	return end - int(l.at[i])
}

// RawKey is a key as the kernel wrote it.
type RawKey struct {
	b      []byte
	layout keyLayout
}

// Parts are all of it but its index.
func (k RawKey) Parts() []byte { return k.b[offKeyFailed:] }

// Index is the index of the sites that have it.
func (k RawKey) Index() int { return int(binary.NativeEndian.Uint32(k.b)) }

// Failed reports whether part i could not be read.
func (k RawKey) Failed(i int) bool {
	return binary.NativeEndian.Uint16(k.b[offKeyFailed:])>>i&1 != 0
}

// Absent reports whether the site has no part i.
func (k RawKey) Absent(i int) bool {
	return binary.NativeEndian.Uint16(k.b[offKeyAbsent:])>>i&1 != 0
}

// Number returns part i, which is one.
func (k RawKey) Number(i int) uint64 { return binary.NativeEndian.Uint64(k.b[k.layout.at[i]:]) }

// Text returns the first KeyText bytes of part i, and how long all of it is.
func (k RawKey) Text(i int) (text []byte, size uint64) {
	size = k.Number(i)
	from := k.b[k.layout.at[i]+8:]
	return from[:min(size, KeyText)], size
}

// Comm returns part i, which is a thread's name.
func (k RawKey) Comm(i int) [commSize]byte { return [commSize]byte(k.b[k.layout.at[i]:]) }
