package debuginfo

import (
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"

	"github.com/waymark-trace/waymark/internal/debugfile"
)

// separate opens the file's debug file. It must have the file's build id, or the checksum that goes
// with its name where there is no id.
func (f *File) separate(path string) error {
	id := buildID(f.program)
	link, sum := debugLink(f.program)
	for _, p := range debugfile.Paths(path, id, link) {
		r, err := openRegular(p)
		if err != nil {
			continue
		}
		d, err := elf.NewFile(r)
		if err == nil && hasInfo(d) && d.Machine == f.Machine && (id != "" && buildID(d) == id || id == "" && debugfile.HasSum(r, sum)) {
			f.debug, f.From, f.opened[d] = d, p, r
			f.closers = append(f.closers, r)
			return nil
		}
		r.Close()
	}
	return ErrNone
}

// maxNote bounds the note with the build id, in bytes.
const maxNote = 1 << 10

// buildID returns the GNU build id in hexadecimal, "" for none.
func buildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Type != elf.SHT_NOTE || s.Size > maxNote {
		return ""
	}
	data, err := s.Data()
	if err != nil || len(data) < 16 {
		return ""
	}
	name, size := f.ByteOrder.Uint32(data), f.ByteOrder.Uint32(data[4:])
	if name != 4 || uint64(size) > uint64(len(data)-16) {
		return ""
	}
	return hex.EncodeToString(data[16 : 16+size])
}

// debugLink returns the name of the debug file and its checksum, "" for none.
func debugLink(f *elf.File) (name string, sum uint32) {
	s := f.Section(".gnu_debuglink")
	if s == nil || s.Size > debugfile.MaxLink {
		return "", 0
	}
	data, err := s.Data()
	if err != nil {
		return "", 0
	}
	return debugfile.Link(data, f.ByteOrder)
}

// oldSize and oldData read a section as GNU tools compressed it before ELF knew compressed
// sections: "ZLIB", the size with the highest byte first, and the data.
func oldSize(s *elf.Section) (uint64, error) {
	var head [12]byte
	if _, err := s.ReadAt(head[:], 0); err != nil || string(head[:4]) != "ZLIB" {
		return 0, errors.New("its head is not that of a compressed section")
	}
	return binary.BigEndian.Uint64(head[4:]), nil
}

func oldReader(s *elf.Section) (io.Reader, error) {
	return zlib.NewReader(io.NewSectionReader(s, 12, int64(min(s.FileSize, maxDebug))-12))
}
