package link_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"testing"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
	"github.com/waymark-trace/waymark/tracer/link"
)

// linkedBinary returns a linked program, and where in the file its parts that matter begin.
func linkedBinary(t testing.TB) (data []byte, regions [][2]int) {
	path := gobuild.Build(t, gobuild.Config{PIE: true, Strip: true}, "testdata/allkinds")
	if _, err := link.File(path, "", link.Options{}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	regions = append(regions, [2]int{0, 64 + 56*len(f.Progs)})
	for _, s := range f.Sections {
		if s.Type != elf.SHT_NOBITS && s.Size > 0 && s.Offset+s.Size <= uint64(len(data)) {
			regions = append(regions, [2]int{int(s.Offset), int(min(s.Size, 4096))})
		}
	}
	for _, magic := range []uint64{markerabi.MarkerMagic0, markerabi.AnchorMagic0} {
		at := 0
		for {
			i := bytes.Index(data[at:], binary.LittleEndian.AppendUint64(nil, magic))
			if i < 0 {
				break
			}
			regions = append(regions, [2]int{at + i, markerabi.AnchorSize})
			at += i + 8
		}
	}
	return data, append(regions, [2]int{int(binary.LittleEndian.Uint64(data[40:])), 64 * len(f.Sections)})
}

// A file cut anywhere in its headers, notes or section table is refused.
func TestLinkTruncated(t *testing.T) {
	needLinux(t)
	data, _ := linkedBinary(t)
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	tail := int(f.Section(".note.stapsdt").Offset)
	if f.Section(schema.Section) == nil {
		t.Fatal("no schema")
	}
	check := func(n int) {
		if _, _, err := link.Link(data[:n:n], link.Options{}); err == nil {
			t.Errorf("linked a file of %d bytes cut to %d", len(data), n)
		}
	}
	for n := range 2048 {
		check(n)
	}
	for n := tail; n < len(data); n++ {
		check(n)
	}
}

// FuzzLink changes a linked program in the places that link reads. Every input is a list of
// changes: a region, an offset in it, a value of 1, 2, 4 or 8 bytes.
func FuzzLink(f *testing.F) {
	data, regions := linkedBinary(f)
	f.Add([]byte{})
	f.Add([]byte{0, 40, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{byte(len(regions) - 1), 0, 1, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	for i := range regions {
		f.Add([]byte{byte(i), 16, 0, 2, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, changes []byte) {
		d := bytes.Clone(data)
		for ; len(changes) >= 12; changes = changes[12:] {
			r := regions[int(changes[0])%len(regions)]
			at := r[0] + int(binary.LittleEndian.Uint16(changes[1:]))%r[1]
			copy(d[at:], changes[4:4+1<<(changes[3]%4)])
		}
		linked, _, err := link.Link(d, link.Options{})
		if err != nil {
			return
		}
		// What link accepts it accepts again, and leaves as it is.
		again, _, err := link.Link(linked, link.Options{})
		if err != nil {
			t.Fatalf("its own output is refused: %v", err)
		}
		if !bytes.Equal(again, linked) {
			t.Error("linking again changed the file")
		}
	})
}
