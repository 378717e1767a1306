package event

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// The bytes of an event's arguments are what a program recorded, in the byte order of this
// machine: each value at its field's Offset, as the program's memory had it, and then the bytes of
// all texts one after another, in the order of the fields. Where the value of a text would lie are
// two words of the program: how many of its bytes were kept and how many it had.

// Decode appends the values of the fields to values, one for each. args are the bytes of the
// arguments, texts those that follow them; the values refer to texts. It trusts neither: an error
// means that they are not what the fields describe. Each field lies within args: CheckLayout.
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

// DecodeText returns the bytes that were kept of a String or Bytes field, how many it had, and
// the texts after it.
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
// has one. Of a size that is not 1 to 7 it keeps all.
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

// CheckLayout reports an error unless each field has the size that its kind has where a pointer
// has word bytes, lies within size bytes of arguments, and has a reason if it has no kind.
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
