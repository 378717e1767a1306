package sdt

import (
	"debug/elf"
	"encoding/hex"
)

// The note of the GNU build id (binutils, include/elf/common.h).
const (
	gnuOwner       = "GNU"
	gnuBuildID     = 3
	maxBuildIDSize = 64 // SHA-1 has 20 bytes
)

// buildID is the file's build id in hexadecimal. Segments come first: files without section
// headers have them too, and the first page of the file mostly holds them.
func (im *image) buildID() string {
	for _, s := range im.segments {
		if s.kind == elf.PT_NOTE {
			if id := im.buildIDIn(s.offset, s.fileSize, s.align); id != "" {
				return id
			}
		}
	}
	for i := uint32(0); ; i++ {
		s, ok := im.section(i)
		if !ok {
			return ""
		}
		if s.kind == elf.SHT_NOTE && im.hasName(s, ".note.gnu.build-id") {
			return im.buildIDIn(s.offset, s.size, noteAlign)
		}
	}
}

func (im *image) buildIDIn(offset, size, align uint64) string {
	data, err := im.read(offset, min(size, maxSegmentNotes))
	if err != nil {
		return "" // a separate debug file has the header but not the bytes
	}
	walk := noteWalk{data: data, order: im.order, align: noteAlign}
	if align == 8 {
		walk.align = 8
	}
	for walk.next() {
		if walk.owner == gnuOwner && walk.kind == gnuBuildID && len(walk.desc) > 0 && len(walk.desc) <= maxBuildIDSize {
			return hex.EncodeToString(walk.desc)
		}
	}
	return ""
}
