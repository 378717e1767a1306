package elffile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Contents returns the uncompressed bytes of a section, or nil if it has none in the file. They are
// valid until Forget or Close. The bytes of an open file are mapped: if the file is truncated,
// reading them faults, and debug.SetPanicOnFault turns the fault into a panic.
func (im *Image) Contents(s *Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.Size == 0 {
		return nil, nil
	}
	if data, ok := im.contents[s]; ok {
		return data, nil
	}
	data, err := im.load(s)
	if err != nil {
		return nil, fmt.Errorf("section %s: %w", im.Name(s), err)
	}
	if im.contents == nil {
		im.contents = map[*Section][]byte{}
	}
	im.contents[s] = data
	return data, nil
}

// Forget frees the bytes that Contents and Relocated returned.
func (im *Image) Forget() {
	for _, m := range im.mappings {
		im.budget.give(m.counted)
		_ = m.memory.unmap()
	}
	im.mappings, im.contents, im.relocated = nil, nil, nil
	im.budget.give(valueSize * uint64(len(im.values)))
	im.values = nil
}

// Release removes the mapped pages of Contents from the memory of this process. They remain valid,
// and the kernel's page cache usually still has them at the next use.
func (im *Image) Release() {
	for _, m := range im.mappings {
		if m.ofFile {
			m.memory.release()
		}
	}
}

// mapping is memory that Contents returned. It is outside the Go heap, so that the garbage
// collector does not reserve as much again.
type mapping struct {
	memory  pages
	counted uint64 // bytes charged to the budget
	ofFile  bool
}

func (im *Image) load(s *Section) ([]byte, error) {
	compression, size, skip, err := im.compression(s)
	switch {
	case err != nil:
		return nil, err
	case compression != 0:
		return im.inflate(compression, s, skip, size)
	case im.file != nil && s.Offset+size > s.Offset && s.Offset+size <= im.size:
		if err := im.budget.check("a section", size); err != nil {
			return nil, err
		}
		if data, memory, err := mapped(im.file, int64(s.Offset), int64(size)); err == nil {
			im.budget.used += size
			im.mappings = append(im.mappings, mapping{memory, size, true})
			return data, nil
		}
	}
	return im.read("a section", s.Offset, size)
}

// old is the layout of GNU tools from before ELF defined compressed sections: "ZLIB", the
// big-endian size, and the data.
const old elf.CompressionType = 1 << 30

// compression returns the compression of a section (0 for none), its uncompressed size, and the
// size of the header before the compressed bytes.
func (im *Image) compression(s *Section) (c elf.CompressionType, size, skip uint64, err error) {
	switch {
	case s.Flags&elf.SHF_COMPRESSED != 0:
		skip = 24
		if im.Class == elf.ELFCLASS32 {
			skip = 12
		}
		head, err := im.headOf(s, skip)
		if err != nil {
			return 0, 0, 0, err
		}
		f := fields{head, im.Order, im.Class}
		c = elf.CompressionType(f.word())
		if im.Class == elf.ELFCLASS64 {
			f.word()
		}
		if c != elf.COMPRESS_ZLIB && c != elf.COMPRESS_ZSTD {
			return 0, 0, 0, fmt.Errorf("compressed in a way that is not known, %v", c)
		}
		return c, f.addr(), skip, nil
	case im.HasPrefix(s, ".z"):
		head, err := im.headOf(s, 12)
		if err != nil {
			return 0, 0, 0, err
		}
		if string(head[:4]) != "ZLIB" {
			return 0, 0, 0, errors.New("its head is not that of a compressed section")
		}
		return old, binary.BigEndian.Uint64(head[4:]), 12, nil
	}
	return 0, s.Size, 0, nil
}

func (im *Image) headOf(s *Section, n uint64) ([]byte, error) {
	if s.Size < n {
		return nil, errors.New("its head is not that of a compressed section")
	}
	return im.read("the head of a section", s.Offset, n)
}

// inflate uncompresses a section into anonymous memory of size bytes. The kernel provides its pages
// as they are written, so a false size takes no memory.
func (im *Image) inflate(c elf.CompressionType, s *Section, skip, size uint64) (data []byte, err error) {
	if size == 0 {
		return nil, nil
	}
	if err := im.budget.check("a compressed section", size); err != nil {
		return nil, err
	}
	r, err := im.decompressor(c, s, skip)
	if err != nil {
		return nil, err
	}
	memory, err := anonymous(int64(size))
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		data, err = io.ReadAll(io.LimitReader(r, int64(size)))
		im.budget.used += uint64(len(data))
	case err == nil:
		im.mappings, data = append(im.mappings, mapping{memory, size, false}), memory
		im.budget.used += size
		var n int
		n, err = io.ReadFull(r, data)
		data = data[:n]
	}
	var more [1]byte
	if n, _ := io.ReadFull(r, more[:]); err == nil && (uint64(len(data)) < size || n > 0) {
		err = fmt.Errorf("the uncompressed data is not %d bytes long, the size in its header", size)
	}
	return data, err
}

func (im *Image) decompressor(c elf.CompressionType, s *Section, skip uint64) (io.Reader, error) {
	if c == elf.COMPRESS_ZSTD {
		return im.zstd(s)
	}
	if s.Offset > uint64(im.size) || s.Size > uint64(im.size)-s.Offset {
		return nil, io.ErrUnexpectedEOF
	}
	return zlib.NewReader(io.NewSectionReader(im.r, int64(s.Offset+skip), int64(s.Size-skip)))
}

// zstd returns a reader of a section compressed with Zstandard. The standard library exposes its
// decompressor only through debug/elf. So zstd builds an ELF file in memory: a file header, the
// header of this section, and the bytes of the section.
func (im *Image) zstd(s *Section) (r io.Reader, err error) {
	defer func() { // debug/elf is not hardened
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("malformed: %v", p)
		}
	}()
	if s.Offset > uint64(im.size) || s.Size > uint64(im.size)-s.Offset {
		return nil, io.ErrUnexpectedEOF
	}
	// Section headers have the same fields in both classes. The header of the compressed bytes
	// differs in width between them and is passed on unchanged.
	order, class, data := im.Order, byte(im.Class), byte(elf.ELFDATA2LSB)
	if order == binary.BigEndian {
		data = byte(elf.ELFDATA2MSB)
	}
	var head, null, names, section any
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', class, data, byte(elf.EV_CURRENT)}
	var at, each int
	if im.Class == elf.ELFCLASS32 {
		at, each = 52, 40
		null, names = elf.Section32{}, elf.Section32{Type: uint32(elf.SHT_STRTAB), Off: 4, Size: 1}
		section = elf.Section32{Type: uint32(elf.SHT_PROGBITS), Flags: uint32(elf.SHF_COMPRESSED), Off: uint32(at + 3*each), Size: uint32(s.Size)}
		head = elf.Header32{Ident: ident, Version: 1, Ehsize: uint16(at), Shoff: uint32(at), Shentsize: uint16(each), Shnum: 3, Shstrndx: 1}
	} else {
		at, each = 64, 64
		null, names = elf.Section64{}, elf.Section64{Type: uint32(elf.SHT_STRTAB), Off: 8, Size: 1}
		section = elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_COMPRESSED), Off: uint64(at + 3*each), Size: s.Size}
		head = elf.Header64{Ident: ident, Version: 1, Ehsize: uint16(at), Shoff: uint64(at), Shentsize: uint16(each), Shnum: 3, Shstrndx: 1}
	}
	var b bytes.Buffer
	for _, part := range []any{head, null, names, section} {
		if err := binary.Write(&b, order, part); err != nil {
			return nil, err
		}
	}
	f, err := elf.NewFile(&joined{b.Bytes(), io.NewSectionReader(im.r, int64(s.Offset), int64(s.Size))})
	if err != nil {
		return nil, err
	}
	return f.Sections[2].Open(), nil
}

// joined reads head followed by rest.
type joined struct {
	head []byte
	rest *io.SectionReader
}

func (j *joined) ReadAt(p []byte, off int64) (n int, err error) {
	if off < int64(len(j.head)) {
		n = copy(p, j.head[off:])
	}
	if n == len(p) {
		return n, nil
	}
	m, err := j.rest.ReadAt(p[n:], off+int64(n)-int64(len(j.head)))
	return n + m, err
}
