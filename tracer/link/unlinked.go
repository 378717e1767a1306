package link

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// maxUnlinked bounds the data that Unlinked searches, in bytes. Go programs have a few megabytes.
const maxUnlinked = 64 << 20

// Unlinked reports whether the executable at path has a marker without a stub. No tracer sees such
// a marker until the executable is linked. Unlinked searches only the program's writable data. It
// does not find simple markers, which exist only in the source.
func Unlinked(path string) bool {
	im, err := elffile.Open(path)
	if err != nil {
		return false
	}
	defer im.Close()
	if _, known := architectures[im.Machine]; !known || im.Class != elf.ELFCLASS64 || im.Order != binary.LittleEndian {
		return false
	}
	var magic [16]byte
	le.PutUint64(magic[:], markerabi.MarkerMagic0)
	le.PutUint64(magic[8:], markerabi.MarkerMagic1)
	for _, s := range im.Segments {
		if s.Type != elf.PT_LOAD || s.Flags&elf.PF_W == 0 || s.FileSize > maxUnlinked {
			continue
		}
		data, err := im.Bytes(s.Offset, s.FileSize)
		if err != nil {
			return false
		}
		for at := 0; ; at++ {
			i := bytes.Index(data[at:], magic[:])
			if i < 0 {
				break
			}
			at += i
			marker := at - markerabi.OffMagic
			if (s.Addr+uint64(at))%8 != 0 || marker < 0 || marker+markerabi.HeaderSize > len(data) {
				continue
			}
			if le.Uint64(data[marker+markerabi.OffStub:]) == 0 {
				return true
			}
		}
	}
	return false
}
