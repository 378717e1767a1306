package event

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// A program records an event's arguments as bytes, in the byte order of this machine. Each value is
// a copy of the program's memory at its field's Offset. The bytes of all texts follow, in the order
// of the fields. In place of a text's value are two words: its kept and its original length.

// Decode appends one value for each field to values. args are the bytes of the arguments and texts
// the bytes after them, to which the values refer. Neither is trusted: Decode returns an error if
// they do not match the fields. Each field must lie within args, as CheckLayout checks.
func Decode(values []Value, fields []Field, args, texts []byte) ([]Value, error) {
	for i := range fields {
		f := &fields[i]
		switch {
		case f.Kind == Invalid:
			values = append(values, Missing(f.Unavailable.Err()))
		case f.Kind.HasLength():
			kept, length, rest, err := f.DecodeText(args, texts)
			if err != nil {
				return values, err
			}
			values, texts = append(values, Text(f.Kind, kept, length)), rest
		default:
			values = append(values, Number(f.Kind, f.Kind.Bits(args[f.Offset:f.Offset+f.Size])))
		}
	}
	return values, nil
}

// DecodeText returns the kept bytes of a String or Bytes field, its original length, and the texts
// after it.
func (f *Field) DecodeText(args, texts []byte) (kept []byte, length int, rest []byte, err error) {
	word := f.Size / 2
	if f.Kind == Bytes {
		word = f.Size / 3
	}
	at := args[f.Offset : f.Offset+f.Size]
	n, all := Uint.Bits(at[:word]), Uint.Bits(at[word:2*word])
	if n > all || n > uint64(len(texts)) || all > math.MaxInt {
		return nil, 0, nil, errors.New("field " + strconv.Quote(f.Name) + ": " + strconv.FormatUint(n, 10) + " of " +
			strconv.FormatUint(all, 10) + " bytes were kept, " + strconv.Itoa(len(texts)) + " are there")
	}
	return texts[:n:n], int(all), texts[n:], nil
}

// Bits reads a number of 1, 2, 4 or 8 bytes in the byte order of this machine and extends it to
// 64 bits, by its sign if the kind has one.
func (k Kind) Bits(b []byte) uint64 {
	var bits uint64
	switch len(b) {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(b))
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(b))
	default:
		return binary.NativeEndian.Uint64(b)
	}
	return k.Extend(bits, len(b))
}

// Extend keeps the low size bytes of bits and extends them to 64 bits, by their sign if the kind
// has one. If size is not 1 to 7, Extend returns bits unchanged.
func (k Kind) Extend(bits uint64, size int) uint64 {
	shift := 64 - 8*size
	if shift <= 0 || size <= 0 {
		return bits
	}
	if k.Signed() {
		return uint64(int64(bits<<shift) >> shift)
	}
	return bits << shift >> shift
}

// CheckLayout returns an error unless each field lies within size bytes of arguments and has the
// size of its kind, for pointers of word bytes. A field without a kind must have a reason.
func CheckLayout(fields []Field, size, word int) error {
	for i := range fields {
		f := &fields[i]
		if f.Kind >= numKinds || (f.Kind == Invalid) != (f.Unavailable != "") {
			return errors.New("field " + strconv.Quote(f.Name[:min(len(f.Name), 80)]) + " has no kind")
		}
		if want := f.Kind.SizeIn(word); f.Size != want || f.Offset < 0 || f.Offset > size-want {
			return errors.New("field " + strconv.Quote(f.Name[:min(len(f.Name), 80)]) + " has " + strconv.Itoa(f.Size) +
				" bytes at " + strconv.Itoa(f.Offset) + " of " + strconv.Itoa(size))
		}
	}
	return nil
}
