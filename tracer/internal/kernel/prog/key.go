package prog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

// KeyLayout is where the parts of keys lie.
type KeyLayout struct {
	Size int // bytes of a key
	at   []int16
}

// LayoutOf returns the layout that holds the keys of all sites.
func LayoutOf(keys []Key) (KeyLayout, error) {
	l := KeyLayout{Size: offKeyParts}
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
		l.at = append(l.at, int16(l.Size))
		l.Size += size
	}
	if l.Size > MaxKey {
		return l, fmt.Errorf("a key of %d bytes: at most %d, which four strings take", l.Size, MaxKey)
	}
	return l, nil
}

// Holds reports whether keys of another layout fit: each part into the room of this one's.
func (l KeyLayout) Holds(other KeyLayout) bool {
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
func (l KeyLayout) room(i int) int {
	end := l.Size
	if i+1 < len(l.at) {
		end = int(l.at[i+1])
	}
	return end - int(l.at[i])
}

// RawKey is a key as the kernel wrote it.
type RawKey struct {
	b      []byte
	layout KeyLayout
}

// Raw returns a key of this layout. It shares b.
func (l KeyLayout) Raw(b []byte) RawKey { return RawKey{b, l} }

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

func (k Key) mayFault() bool {
	return slices.ContainsFunc(k, func(p Part) bool { return p.mayFault() })
}

// absent returns the bits of the parts that a site does not have.
func (k Key) absent() (bits int64) {
	for i := range k {
		if k[i].Source == Absent {
			bits |= 1 << i
		}
	}
	return bits
}
