package sdt

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrNotELF is wrapped by the error for a file that is not an ELF file at all.
var ErrNotELF = errors.New("not an ELF file")

// image is an ELF file's headers, read with bounds. debug/elf is not hardened against hostile
// files, by its own words, and reads more than a look for notes needs.
type image struct {
	r       io.ReaderAt
	path    string // where to look for its debug file, "" for nowhere
	head    []byte // the start of the file, which holds most of what is looked for
	class   elf.Class
	order   binary.ByteOrder
	kind    elf.Type
	machine elf.Machine

	segments []segment
	sections []byte // the section header table
	names    []byte // the section names
}

type segment struct {
	kind             elf.ProgType
	flags            elf.ProgFlag
	offset, fileSize uint64
	addr, memSize    uint64
	align            uint64
}

// openImage reads headers only: one read of the file's first page, and two of the sections'.
func openImage(r io.ReaderAt) (*image, error) {
	im := &image{r: r, head: make([]byte, 4096)}
	n, err := r.ReadAt(im.head, 0)
	if n < len(im.head) && err != nil && err != io.EOF {
		return nil, fmt.Errorf("reading the ELF header: %w", err)
	}
	im.head = im.head[:max(0, min(n, len(im.head)))]
	if !bytes.HasPrefix(im.head, []byte(elf.ELFMAG)) {
		return nil, ErrNotELF
	}
	if len(im.head) < elf.EI_NIDENT {
		return nil, fmt.Errorf("ELF header cut off after %d bytes", len(im.head))
	}
	switch im.class = elf.Class(im.head[elf.EI_CLASS]); im.class {
	case elf.ELFCLASS32, elf.ELFCLASS64:
	default:
		return nil, fmt.Errorf("ELF header: unknown class %d", im.class)
	}
	switch data := elf.Data(im.head[elf.EI_DATA]); data {
	case elf.ELFDATA2LSB:
		im.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		im.order = binary.BigEndian
	default:
		return nil, fmt.Errorf("ELF header: unknown byte order %d", data)
	}
	return im, im.readHeaders()
}

// The sizes of the ELF header, a program header and a section header (gABI, chapters 4 and 5).
func (im *image) headerSizes() (file, prog, sect uint64) {
	if im.class == elf.ELFCLASS32 {
		return 52, 32, 40
	}
	return 64, 56, 64
}

func (im *image) readHeaders() error {
	fileSize, progSize, sectSize := im.headerSizes()
	if uint64(len(im.head)) < fileSize {
		return fmt.Errorf("ELF header cut off after %d bytes", len(im.head))
	}
	f := fields{im.head[elf.EI_NIDENT:fileSize], im.order, im.class}
	im.kind, im.machine = elf.Type(f.half()), elf.Machine(f.half())
	f.word()
	f.addr()
	progAt, sectAt := f.addr(), f.addr()
	f.word()
	f.half()
	progEach, progCount := uint64(f.half()), uint64(f.half())
	sectEach, sectCount, namesIndex := uint64(f.half()), uint64(f.half()), uint32(f.half())

	// Counts that do not fit 16 bits stand in section 0 (gABI, "Extended section numbering").
	const xnum = 0xffff
	if sectAt != 0 {
		if sectEach != sectSize {
			return fmt.Errorf("ELF header: section headers of %d bytes, not %d", sectEach, sectSize)
		}
		zero, err := im.read(sectAt, sectSize)
		if err != nil {
			return fmt.Errorf("reading section header 0 at %#x: %w", sectAt, err)
		}
		s, info := im.decodeSection(zero)
		if sectCount == 0 {
			sectCount = s.size
		}
		if namesIndex == xnum {
			namesIndex = s.link
		}
		if progCount == xnum {
			progCount = uint64(info)
		}
	}
	if progAt == 0 {
		progCount = 0
	}
	if progCount > 0 && progEach != progSize {
		return fmt.Errorf("ELF header: program headers of %d bytes, not %d", progEach, progSize)
	}
	if progCount > maxSegments || sectCount > maxSections {
		return fmt.Errorf("ELF header: %d segments and %d sections: more than %d or %d",
			progCount, sectCount, maxSegments, maxSections)
	}
	progs, err := im.read(progAt, progCount*progSize)
	if err != nil {
		return fmt.Errorf("reading %d program headers at %#x: %w", progCount, progAt, err)
	}
	for ; len(progs) > 0; progs = progs[progSize:] {
		im.segments = append(im.segments, im.decodeSegment(progs))
	}
	if sectAt == 0 || sectCount == 0 {
		return nil
	}
	if im.sections, err = im.read(sectAt, sectCount*sectSize); err != nil {
		return fmt.Errorf("reading %d section headers at %#x: %w", sectCount, sectAt, err)
	}
	if namesIndex == 0 {
		return nil // sections without names
	}
	names, ok := im.section(namesIndex)
	if !ok {
		return fmt.Errorf("ELF header: section names in section %d of %d", namesIndex, sectCount)
	}
	if im.names, err = im.sectionData(names, maxNameTable); err != nil {
		return fmt.Errorf("reading the section names at %#x: %w", names.offset, err)
	}
	return nil
}
