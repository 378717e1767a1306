package link

import (
	"debug/elf"
	"fmt"
	"math"
	"slices"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/tracer/internal/simple/section"
)

// The names and the order of what link adds. bcc finds .note.stapsdt only behind .probes and
// .probes only behind a section of code (listprobes, bcc_elf.c); gdb lists nothing without
// .stapsdt.base; perf turns addresses into file offsets by .stapsdt.base and counters by
// .probes (symbol-elf.c).
//
// Tools use no more of .stapsdt.base and .probes than where they begin, in memory and in the
// file. Ours have no size, because GNU strip lays out loaded sections anew, and breaks the
// program, when two of them overlap.
const (
	baseSection   = ".stapsdt.base"
	probesSection = ".probes"
	noteSection   = ".note.stapsdt"
)

// write returns the linked file: the old one with a stub in every marker, then the new
// sections, then the new section header table.
func (img *image) write(doc *schema.Document, opt *optimized, o Options) ([]byte, *simples, error) {
	t, err := img.readSections()
	if err != nil {
		return nil, nil, err
	}
	base := img.unlinkedSize(t)
	simple, err := img.simple(t, o, base)
	if err != nil {
		return nil, nil, err
	}
	doc.BaseSize = base
	out := img.copied(base, t, simple, len(doc.Markers))
	for _, m := range doc.Markers {
		marker := m.Counter - markerabi.OffArmed
		off, ok := img.fileOffset(marker+markerabi.OffStub, 8)
		if !ok || int64(off)+8 > base {
			return nil, nil, fmt.Errorf("%w: marker at 0x%x is not in the file", ErrLayout, marker)
		}
		le.PutUint64(out[off:], m.Location-(marker+markerabi.OffStub))
	}

	baseAddr, err := img.addBase(t)
	if err != nil {
		return nil, nil, err
	}
	if err := img.addProbes(t, doc); err != nil {
		return nil, nil, err
	}
	foreign, err := img.takeForeignNotes(t)
	if err != nil {
		return nil, nil, err
	}
	notes, err := img.notes(doc, baseAddr, foreign)
	if err != nil {
		return nil, nil, err
	}
	out = t.appendData(out, noteSection, elf.SHT_NOTE, notes)
	text, err := schema.Encode(doc)
	if err != nil {
		return nil, nil, err
	}
	out = t.appendData(out, schema.Section, elf.SHT_PROGBITS, text)
	if out, err = img.writeSites(out, t, opt, o); err != nil {
		return nil, nil, err
	}
	out, err = t.finish(simple.write(out, t))
	return out, simple, err
}

// unlinkedSize returns the size that the file had before it was linked, or its size now when
// it was not or has been rearranged since, by strip for one.
func (img *image) unlinkedSize(t *table) int64 {
	now := int64(len(img.data))
	base := img.baseSize(t)
	if base <= 0 || base > now || t.offset < uint64(base) {
		return now
	}
	for j, h := range t.headers {
		ours := slices.Contains(appended, t.names[j]) || j == t.strings
		if !ours && h.typ() != elf.SHT_NOBITS && h.typ() != elf.SHT_NULL && h.offset()+h.size() > uint64(base) {
			return now
		}
	}
	for _, p := range img.loads {
		if p.Offset+p.FileSize > uint64(base) {
			return now
		}
	}
	return base
}

// copied returns the first base bytes of the file, with room for what is appended: to grow them would be to copy a large program once more.
func (img *image) copied(base int64, t *table, s *simples, markers int) []byte {
	room := (len(t.headers)+8)*sectionHeaderSize + markers*512 + 64<<10
	if s != nil {
		room += len(s.sections[0]) + len(s.sections[1])
	}
	return append(make([]byte, 0, int(base)+room), img.data[:base]...)
}

// appended are the sections whose contents link appends.
var appended = []string{noteSection, schema.Section, markerabi.SitesSection, section.Section, section.PlaceSection}

// baseSize returns the size of the file before link, as an earlier link noted it; 0 for none.
func (img *image) baseSize(t *table) int64 {
	if i := t.index(schema.Section); i >= 0 && t.index(baseSection) >= 0 && t.index(probesSection) >= 0 && t.index(probesSection) < t.index(noteSection) {
		if doc, err := schema.Decode(t.contents(img.data, i)); err == nil {
			return doc.BaseSize
		}
		return 0
	}
	if i := t.index(section.PlaceSection); i >= 0 {
		if doc, err := section.DecodePlaces(t.contents(img.data, i)); err == nil {
			return doc.BaseSize
		}
	}
	return 0
}

func (img *image) fileOffset(addr, n uint64) (uint64, bool) {
	p := img.segment(addr)
	if p == nil || p.FileSize-(addr-p.Addr) < n {
		return 0, false
	}
	return p.Offset + (addr - p.Addr), true
}

// addBase adds the header of .stapsdt.base and returns its address. perf takes the distance
// between its address and its offset for that of the code, so it must be the code's.
func (img *image) addBase(t *table) (uint64, error) {
	addr := img.anchor.text
	off, ok := img.fileOffset(addr, 1)
	if !ok {
		return 0, fmt.Errorf("%w: its text at 0x%x is not in the file", ErrLayout, addr)
	}
	i := t.index(baseSection)
	if i >= 0 && !t.added(i) {
		h := t.headers[i] // C code brought its own
		if h.addr()-h.offset() != addr-off {
			return 0, fmt.Errorf("%w: its own %s lies in a segment of another offset than its code", ErrLayout, baseSection)
		}
		return h.addr(), nil
	}
	t.set(baseSection, header{}.with(elf.SHT_PROGBITS, elf.SHF_ALLOC, addr, off, 0, 1))
	return addr, nil
}

// addProbes adds the header of .probes, which tells where in the file counters are.
func (img *image) addProbes(t *table, doc *schema.Document) error {
	low, high := uint64(math.MaxUint64), uint64(0)
	for _, m := range doc.Markers {
		low, high = min(low, m.Counter), max(high, m.Counter+2)
	}
	off, ok := img.fileOffset(low, high-low)
	if !ok {
		return fmt.Errorf("%w: the counters of its markers lie in several segments", ErrLayout)
	}
	if i := t.index(probesSection); i >= 0 && !t.added(i) {
		h := t.headers[i] // C code brought its own
		if h.addr()-h.offset() != low-off {
			return fmt.Errorf("%w: its own %s lies in a segment of another offset than its markers", ErrLayout, probesSection)
		}
		return nil
	}
	// The start of the section that holds the counters, for strip to keep it there.
	addr := t.sectionStart(low)
	if off, ok = img.fileOffset(addr, 0); !ok {
		return fmt.Errorf("%w: the section at 0x%x is not in the file", ErrLayout, addr)
	}
	t.set(probesSection, header{}.with(elf.SHT_PROGBITS, elf.SHF_ALLOC|elf.SHF_WRITE, addr, off, 0, 1))
	return nil
}

// takeForeignNotes returns the notes of C code, and gets their section out of the way when
// ours could not take its place: it must stand behind .probes.
func (img *image) takeForeignNotes(t *table) ([]byte, error) {
	i := t.index(noteSection)
	if i < 0 {
		return nil, nil
	}
	foreign, err := img.foreignNotes(t.contents(img.data, i))
	if err != nil {
		return nil, err
	}
	if i < t.index(probesSection) {
		t.names[i] = noteSection + ".c"
		t.headers[i].setType(elf.SHT_PROGBITS) // gdb and readelf read every section of notes
	}
	return foreign, nil
}
