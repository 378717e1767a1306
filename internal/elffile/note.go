package elffile

import (
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Constants of the GNU build id note (binutils, include/elf/common.h).
const (
	gnuOwner       = "GNU"
	gnuBuildID     = 3
	maxBuildIDSize = 64       // SHA-1 has 20 bytes
	maxBuildNotes  = 64 << 10 // bytes searched for it in a PT_NOTE segment
)

const (
	noteHeaderSize = 12
	noteAlign      = 4
)

// BuildID returns the file's build id in hexadecimal, or "" for none. It searches segments first:
// files without section headers have them too, usually in the file's first page.
func (im *Image) BuildID() string {
	for i := range im.Segments {
		if s := &im.Segments[i]; s.Type == elf.PT_NOTE {
			if id := im.buildIDIn(s.Offset, s.FileSize, s.Align); id != "" {
				return id
			}
		}
	}
	for i := range im.Sections {
		if s := &im.Sections[i]; s.Type == elf.SHT_NOTE && im.HasName(s, ".note.gnu.build-id") {
			return im.buildIDIn(s.Offset, s.Size, noteAlign)
		}
	}
	return ""
}

func (im *Image) buildIDIn(offset, size, align uint64) string {
	data, err := im.read("notes", offset, min(size, maxBuildNotes))
	if err != nil {
		return "" // a separate debug file has the header but not the bytes
	}
	notes := Notes{Data: data, Order: im.Order, Align: noteAlign}
	if align == 8 {
		notes.Align = 8
	}
	for notes.Next() {
		if string(notes.Owner) == gnuOwner && notes.Kind == gnuBuildID && len(notes.Desc) > 0 && len(notes.Desc) <= maxBuildIDSize {
			return hex.EncodeToString(notes.Desc)
		}
	}
	return ""
}

// Notes steps through ELF notes of any owner.
type Notes struct {
	Data  []byte
	Order binary.ByteOrder
	Align int // 4, or 8 in segments that hold .note.gnu.property

	At    int    // offset of the note in Data
	Owner []byte // without its final zero; nil if it has no final zero
	Kind  uint32
	Desc  []byte
	Err   error // set when a note runs out of data

	rest int
}

// Next advances to the next note and reports whether there is one.
func (w *Notes) Next() bool {
	w.At = w.rest
	left := w.Data[w.At:]
	if len(left) < noteHeaderSize {
		for _, b := range left {
			if b != 0 { // zeros are padding
				w.Err = fmt.Errorf("note at offset %#x: header cut off after %d bytes", w.At, len(left))
				break
			}
		}
		return false
	}
	nameSize, descSize := w.Order.Uint32(left), w.Order.Uint32(left[4:])
	w.Kind = w.Order.Uint32(left[8:])
	// In 64 bits no sum of these wraps.
	descAt := alignUp(noteHeaderSize+uint64(nameSize), w.Align)
	end := descAt + uint64(descSize)
	if descSize == 0 {
		end = noteHeaderSize + uint64(nameSize)
	}
	if end > uint64(len(left)) {
		w.Err = fmt.Errorf("note at offset %#x: %d bytes of name and %d of description run past the end at %#x",
			w.At, nameSize, descSize, len(w.Data))
		return false
	}
	w.Owner = nil
	if name := left[noteHeaderSize : noteHeaderSize+nameSize]; nameSize > 0 && name[nameSize-1] == 0 {
		w.Owner = name[:nameSize-1]
	}
	w.Desc = nil
	if descSize > 0 {
		w.Desc = left[descAt:end]
	}
	// The last note of a section may lack its padding.
	w.rest = w.At + int(min(alignUp(end, w.Align), uint64(len(left))))
	return true
}

func alignUp(n uint64, to int) uint64 { return (n + uint64(to) - 1) &^ (uint64(to) - 1) }
