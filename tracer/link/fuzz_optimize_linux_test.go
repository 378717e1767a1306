package link

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/internal/test/gobuild"
)

// FuzzOptimize changes a program where link --optimize reads it. What it still accepts is unlike a program that
// was linked without in the bytes only that it says it wrote, and linking it without puts those back.
//
// Every input is a list of changes: a region, an offset in it, a length of 1, 2, 4 or 8, and a value.
func FuzzOptimize(f *testing.F) {
	path := gobuild.Build(f, gobuild.Config{Strip: true}, "testdata/storm")
	_, report, err := readAndLink(path, Options{Optimize: true})
	if err != nil {
		f.Fatal(err)
	}
	plain, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	relinked, _, err := Link(plain, Options{Optimize: true}) // with the sections of an earlier link
	if err != nil {
		f.Fatal(err)
	}
	img, err := openImage(plain)
	if err != nil {
		f.Fatal(err)
	}
	offset := func(addr uint64) int {
		off, _ := img.fileOffset(addr, 1)
		return int(off)
	}
	var regions [][2]int
	for _, s := range report.Sites {
		regions = append(regions, [2]int{offset(s.Address), 96})
	}
	for _, w := range img.findWords() {
		regions = append(regions, [2]int{offset(w.addr) - markerabi.OffArmed, markerabi.HeaderSize})
	}
	regions = append(regions,
		[2]int{0, 1024}, [2]int{offset(img.anchor.addr), markerabi.AnchorSize},
		[2]int{offset(img.anchor.pclntab), 4096}, [2]int{len(plain), len(relinked) - len(plain)})
	f.Add(false, []byte{})
	f.Add(true, []byte{})
	for i := range regions {
		f.Add(i%2 == 0, []byte{byte(i), 3, 0, 1, 0x66, 0x90, 0, 0, 0, 0, 0, 0})
	}
	f.Fuzz(func(t *testing.T, again bool, changes []byte) {
		d := bytes.Clone(plain)
		if again {
			d = bytes.Clone(relinked)
		}
		for ; len(changes) >= 12; changes = changes[12:] {
			r := regions[int(changes[0])%len(regions)]
			at := r[0] + int(binary.LittleEndian.Uint16(changes[1:]))%r[1]
			if at < len(d) {
				copy(d[at:], changes[4:4+1<<(changes[3]%4)])
			}
		}
		want, _, err := Link(d, Options{})
		optimized, _, err2 := Link(d, Options{Optimize: true})
		if err != nil || err2 != nil {
			return
		}
		got, _, err := Link(optimized, Options{})
		if err != nil {
			t.Fatalf("its own output is refused: %v", err)
		}
		sameSegments(t, "undone", want, got)
		undoEdits(t, optimized)
		sameSegments(t, "outside of edits", want, optimized)
	})
}

func readAndLink(path string, o Options) ([]byte, *Report, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return Link(data, o)
}

// undoEdits puts back what the schema says was there, and clears where the site table is.
func undoEdits(t *testing.T, data []byte) {
	img, err := openImage(data)
	if err != nil {
		t.Fatal(err)
	}
	table, err := img.readSections()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := schema.Decode(table.contents(data, table.index(schema.Section)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Code {
		old, err := hex.DecodeString(c.Hex)
		if err != nil || copy(img.at(c.Address, uint64(len(old))), old) != len(old) {
			t.Fatalf("code at 0x%x: %v", c.Address, err)
		}
	}
	clear(img.at(img.anchor.addr+markerabi.OffSites, 16))
}

// sameSegments compares what two files load, but for the ELF header.
func sameSegments(t *testing.T, what string, want, got []byte) {
	a, err := openImage(want)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.loads {
		from := max(p.Offset, ehdrSize)
		if from > p.Offset+p.FileSize || p.Offset+p.FileSize > uint64(len(got)) {
			continue
		}
		if !bytes.Equal(want[from:p.Offset+p.FileSize], got[from:p.Offset+p.FileSize]) {
			t.Errorf("%s: the segment at 0x%x differs", what, p.Addr)
		}
	}
}
