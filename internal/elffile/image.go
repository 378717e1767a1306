// Package elffile reads an ELF file through one bounded image: the file is opened once, by
// descriptor, its headers are parsed once, and all readers of the file share the image.
//
// Files are treated as hostile. Counts and sizes in headers are checked before use, names are read
// up to a limit, and the memory used for a file has a budget (see [LimitError]). debug/elf is
// documented as not hardened. So this package uses only its constants and one decompressor, the
// latter under a recover.
//
// An Image must not be used by several goroutines at once.
package elffile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// ErrNotELF is wrapped by the error for a file that is not ELF.
var ErrNotELF = errors.New("not an ELF file")

// Limits on the tables of a file, all well above the output of any tool.
const (
	maxSections  = 1 << 17
	maxSegments  = 1 << 16
	maxNameTable = 16 << 20 // section names, in bytes
)

// Image is an open ELF file.
type Image struct {
	Class    elf.Class
	Order    binary.ByteOrder
	Type     elf.Type
	Machine  elf.Machine
	Entry    uint64
	Segments []Segment
	Sections []Section

	r      io.ReaderAt
	file   *os.File // r, if it is a file
	memory []byte   // the whole file, if it is in memory
	own    bool     // Close closes file
	path   string   // debug files are searched beside it; "" for no search
	size   uint64   // of the file, math.MaxInt64 if unknown
	head   []byte   // the first page, which holds most headers
	names  []byte   // the section names
	budget budget

	contents map[*Section][]byte // cached by Contents
	mappings []mapping           // that back some of contents

	relocated map[*Section][]byte // cached by Relocated
	values    []symbolValue       // of the symbols in section valuesOf, nil until they are needed
	valuesOf  uint32
	search    search
}

// Open opens the regular file at path.
func Open(path string) (*Image, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	im, err := FromFile(f, path)
	if err != nil {
		f.Close()
		return nil, err
	}
	im.own = true
	return im, nil
}

// FromFile returns the image of an open file, which must stay open until Close. path is the name
// under which the file was opened; with "" Debug finds no debug file.
func FromFile(f *os.File, path string) (*Image, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return open(&Image{r: f, file: f, path: path, size: uint64(max(info.Size(), 0)), budget: budgetOf(info.Size(), held(info))})
}

// ReadAll reads a whole file. It returns a LimitError if the file has more than most bytes, or many
// more than it stores on disk.
func ReadAll(f *os.File, most uint64) ([]byte, os.FileInfo, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	h := uint64(max(held(info), 0))
	size := uint64(max(info.Size(), 0))
	if limit := min(most, grown(h)); size > limit {
		return nil, nil, &LimitError{What: "the file", Need: size, Max: limit, Held: h, Cap: most}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, err
	}
	return data, info, nil
}

// FromBytes returns the image of a file in memory. The contents of its sections share data's
// memory.
func FromBytes(data []byte) (*Image, error) {
	size := int64(len(data))
	return open(&Image{r: bytes.NewReader(data), memory: data, size: uint64(size), budget: budgetOf(size, size)})
}

// Of returns r if it is an Image, or else an image of the file that r reads. path is used as in
// FromFile, and ignored if r is an Image.
func Of(r io.ReaderAt, path string) (*Image, error) {
	switch r := r.(type) {
	case *Image:
		return r, nil
	case *os.File:
		return FromFile(r, path)
	case interface{ Size() int64 }: // bytes.Reader, io.SectionReader
		size := r.Size()
		return open(&Image{r: r.(io.ReaderAt), path: path, size: uint64(max(size, 0)), budget: budgetOf(size, size)})
	}
	return open(&Image{r: r, path: path, size: math.MaxInt64, budget: budgetOf(math.MaxInt64, math.MaxInt64)})
}

// Close frees the bytes that Contents returned, and closes the debug files. It closes the file if
// Open opened it.
func (im *Image) Close() error {
	im.Forget()
	err := im.search.close()
	if im.own {
		err = errors.Join(err, im.file.Close())
	}
	return err
}

// Path returns the name under which the file was opened.
func (im *Image) Path() string { return im.path }

// ReadAt reads bytes of the file into the caller's memory, which the budget does not count.
func (im *Image) ReadAt(p []byte, offset int64) (int, error) { return im.r.ReadAt(p, offset) }

// open reads only headers: the file's first page in one read, the section headers in two.
func open(im *Image) (*Image, error) {
	if im.memory != nil {
		im.head = im.memory[:min(len(im.memory), 4096)]
	} else {
		im.head = make([]byte, 4096)
		n, err := im.r.ReadAt(im.head, 0)
		if n < len(im.head) && err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading the ELF header: %w", err)
		}
		im.head = im.head[:max(0, min(n, len(im.head)))]
	}
	if !bytes.HasPrefix(im.head, []byte(elf.ELFMAG)) {
		return nil, ErrNotELF
	}
	if len(im.head) < elf.EI_NIDENT {
		return nil, fmt.Errorf("ELF header cut off after %d bytes", len(im.head))
	}
	switch im.Class = elf.Class(im.head[elf.EI_CLASS]); im.Class {
	case elf.ELFCLASS32, elf.ELFCLASS64:
	default:
		return nil, fmt.Errorf("ELF header: unknown class %d", im.Class)
	}
	switch data := elf.Data(im.head[elf.EI_DATA]); data {
	case elf.ELFDATA2LSB:
		im.Order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		im.Order = binary.BigEndian
	default:
		return nil, fmt.Errorf("ELF header: unknown byte order %d", data)
	}
	if err := im.readHeaders(); err != nil {
		return nil, err
	}
	return im, nil
}

// headerSizes returns the sizes of the ELF header, a program header and a section header (gABI,
// chapters 4 and 5).
func (im *Image) headerSizes() (file, prog, sect uint64) {
	if im.Class == elf.ELFCLASS32 {
		return 52, 32, 40
	}
	return 64, 56, 64
}

func (im *Image) readHeaders() error {
	fileSize, progSize, sectSize := im.headerSizes()
	if uint64(len(im.head)) < fileSize {
		return fmt.Errorf("ELF header cut off after %d bytes", len(im.head))
	}
	f := fields{im.head[elf.EI_NIDENT:fileSize], im.Order, im.Class}
	im.Type, im.Machine = elf.Type(f.half()), elf.Machine(f.half())
	f.word()
	im.Entry = f.addr()
	progAt, sectAt := f.addr(), f.addr()
	f.word()
	f.half()
	progEach, progCount := uint64(f.half()), uint64(f.half())
	sectEach, sectCount, namesIndex := uint64(f.half()), uint64(f.half()), uint64(f.half())

	// Counts over 16 bits are in section 0 (gABI, "Extended section numbering").
	const xnum = 0xffff
	if sectAt != 0 {
		if sectEach != sectSize {
			return fmt.Errorf("ELF header: section headers of %d bytes, not %d", sectEach, sectSize)
		}
		if sectCount == 0 || namesIndex == xnum || progCount == xnum {
			zero, err := im.read("section header 0", sectAt, sectSize)
			if err != nil {
				return fmt.Errorf("reading section header 0 at %#x: %w", sectAt, err)
			}
			s := im.decodeSection(zero)
			if sectCount == 0 {
				sectCount = s.Size
			}
			if namesIndex == xnum {
				namesIndex = uint64(s.Link)
			}
			if progCount == xnum {
				progCount = uint64(s.info)
			}
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
	progs, err := im.read("program headers", progAt, progCount*progSize)
	if err != nil {
		return fmt.Errorf("reading %d program headers at %#x: %w", progCount, progAt, err)
	}
	im.Segments = make([]Segment, 0, progCount)
	for ; len(progs) > 0; progs = progs[progSize:] {
		im.Segments = append(im.Segments, im.decodeSegment(progs))
	}
	if sectAt == 0 || sectCount == 0 {
		return nil
	}
	sections, err := im.read("section headers", sectAt, sectCount*sectSize)
	if err != nil {
		return fmt.Errorf("reading %d section headers at %#x: %w", sectCount, sectAt, err)
	}
	im.Sections = make([]Section, 0, sectCount)
	for ; len(sections) > 0; sections = sections[sectSize:] {
		im.Sections = append(im.Sections, im.decodeSection(sections))
	}
	if namesIndex == 0 {
		return nil // sections without names
	}
	if namesIndex >= sectCount {
		return fmt.Errorf("ELF header: section names in section %d of %d", namesIndex, sectCount)
	}
	names := &im.Sections[namesIndex]
	if im.names, err = im.Data(names, maxNameTable); err != nil {
		return fmt.Errorf("reading the section names at %#x: %w", names.Offset, err)
	}
	return nil
}
