package readers_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// mutated returns data with one to eight changes.
func mutated(r *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	change := bytesOf(data)
	if isText(data) {
		change = textOf
	}
	for range 1 + r.IntN(8) {
		if len(data) < 16 {
			break
		}
		data = change(r, data)
	}
	return data
}

func isText(data []byte) bool {
	return !bytes.ContainsFunc(data, func(r rune) bool { return r < '\t' || r == 0xfffd })
}

// edges are values at which sizes, counts and offsets are wrong.
var edges = []uint64{0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 1 << 20, 1 << 28, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff,
	1 << 32, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 4096, 1<<64 - 8, 1<<64 - 1}

// bytesOf returns the changes of a binary file. Each region of an ELF file is as likely as the others, however small.
func bytesOf(data []byte) func(*rand.Rand, []byte) []byte {
	regions := regionsOf(data)
	return func(r *rand.Rand, data []byte) []byte {
		region := regions[r.IntN(len(regions))]
		if region[1] > len(data) || region[0] >= region[1] {
			region = [2]int{0, len(data)} // it was cut
		}
		at := region[0] + r.IntN(region[1]-region[0])
		if r.IntN(2) == 0 {
			at &^= 7
		}
		rest := data[at:]
		switch r.IntN(12) {
		case 0:
			rest[0] ^= 1 << r.IntN(8)
		case 1, 2:
			rest[0] = byte(r.Uint32())
		case 3, 4, 5, 6, 7:
			var b [8]byte
			v := edges[r.IntN(len(edges))]
			if r.IntN(4) == 0 {
				v = uint64(r.IntN(2 * len(data)))
			}
			binary.LittleEndian.PutUint64(b[:], v)
			copy(rest, b[:1<<r.IntN(4)])
		case 8: // another place of the file
			copy(rest[:min(len(rest), 1+r.IntN(64))], data[r.IntN(len(data)):])
		case 9:
			clear(rest[:min(len(rest), 1+r.IntN(256))])
		case 10:
			n := min(len(rest), 1+r.IntN(64))
			for i := range n {
				rest[i] = byte(r.Uint32())
			}
		case 11:
			if r.IntN(4) == 0 {
				return data[:at]
			}
			v := binary.LittleEndian.Uint64(append(rest[:min(8, len(rest)):min(8, len(rest))], make([]byte, 8)...)) + uint64(r.IntN(17)) - 8
			copy(rest, binary.LittleEndian.AppendUint64(nil, v)[:1<<r.IntN(4)])
		}
		return data
	}
}

// regionsOf returns the headers and sections of an ELF file, or all of another.
func regionsOf(data []byte) [][2]int {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return [][2]int{{0, min(len(data), 4096)}, {0, len(data)}}
	}
	at := int(binary.LittleEndian.Uint64(data[40:]))
	regions := [][2]int{{0, 64}, {at, len(data)}, {at, len(data)}}
	if n := len(f.Progs); n > 0 {
		regions = append(regions, [2]int{64, 64 + 56*n})
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOBITS || s.FileSize == 0 {
			continue
		}
		region := [2]int{int(s.Offset), int(s.Offset + s.FileSize)}
		regions = append(regions, region)
		if strings.Contains(s.Name, "debug") || strings.Contains(s.Name, "note") || strings.Contains(s.Name, "marker") || s.Name == ".eh_frame" {
			regions = append(regions, region, region, region) // what most of the readers are for
		}
	}
	return regions
}

// marks are the characters that grammars give a meaning, and those that texts have none of.
const marks = "{}[]();:=,\"\\<>\x00\xff\x1b"

// textOf changes a text: a byte, a number, a word, a line, or its end.
func textOf(r *rand.Rand, data []byte) []byte {
	at := r.IntN(len(data))
	begin, end := bytes.LastIndexByte(data[:at], '\n')+1, len(data)
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		end = at + i + 1
	}
	word := func(b byte) bool {
		return b == '_' || b == '.' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
	}
	from, to := at, at
	for from > 0 && word(data[from-1]) {
		from--
	}
	for to < len(data) && word(data[to]) {
		to++
	}
	other := func() []byte {
		words := bytes.FieldsFunc(data, func(c rune) bool { return c > 0x7f || !word(byte(c)) })
		if len(words) == 0 {
			return nil
		}
		return words[r.IntN(len(words))]
	}
	splice := func(from, to int, with []byte) []byte {
		return append(append(bytes.Clone(data[:from]), with...), data[to:]...)
	}
	switch r.IntN(9) {
	case 0:
		return splice(at, at+1, []byte{byte(r.Uint32())})
	case 1:
		return splice(at, at+1, nil)
	case 2:
		return splice(at, at, []byte{marks[r.IntN(len(marks))]})
	case 3, 4:
		return splice(from, to, nil)
	case 5:
		return splice(from, to, []byte([]string{"0", "1", "-1", "64", "65", "4096", "4294967296", "18446744073709551615", "99999999999999999999", "1e9", "null", "true"}[r.IntN(12)]))
	case 6:
		return splice(from, to, other())
	case 7: // the line again, many times
		return splice(begin, begin, bytes.Repeat(data[begin:end], 1<<r.IntN(8)))
	}
	if r.IntN(3) == 0 {
		return data[:at]
	}
	return splice(begin, end, nil)
}
