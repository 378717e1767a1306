package sdt

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"
)

// The note as sys/sdt.h (SystemTap 4.8, _SDT_ASM_BODY) writes it, padded to 4 bytes:
//
//	namesz 8 | descsz | type 3 | "stapsdt\0" | location | base | semaphore |
//	provider \0 name \0 arguments \0
//
// The three addresses have the width of the file's class, everything its byte order.
const (
	noteOwner      = "stapsdt"
	noteVersion    = 3
	noteHeaderSize = 12
	noteAlign      = 4
)

// ParseNotes returns every readable note of a .note.stapsdt section, and one error for each
// unreadable one, which names its offset in the section. Notes of other owners are skipped.
// A note that runs past the end of the section ends the parse.
func ParseNotes(section []byte, class elf.Class, order binary.ByteOrder) ([]Note, []error) {
	if class != elf.ELFCLASS32 && class != elf.ELFCLASS64 {
		return nil, []error{fmt.Errorf("notes of an unknown ELF class %d", class)}
	}
	if len(section) > maxSectionBytes {
		return nil, []error{fmt.Errorf("notes of %d bytes: more than %d", len(section), maxSectionBytes)}
	}
	var notes []Note
	var errs []error
	walk := noteWalk{data: section, order: order, align: noteAlign}
	for walk.next() {
		if walk.owner != noteOwner {
			continue
		}
		if len(notes)+len(errs) == maxNotes {
			return notes, append(errs, fmt.Errorf("note at offset %#x: more than %d notes", walk.at, maxNotes))
		}
		n, err := parseNote(walk.kind, walk.desc, class, order)
		if err != nil {
			errs = append(errs, fmt.Errorf("note at offset %#x: %w", walk.at, err))
			continue
		}
		notes = append(notes, n)
	}
	if walk.err != nil {
		errs = append(errs, walk.err)
	}
	return notes, errs
}

func parseNote(kind uint32, desc []byte, class elf.Class, order binary.ByteOrder) (Note, error) {
	if kind != noteVersion {
		return Note{}, fmt.Errorf("version %d, only %d is known", kind, noteVersion)
	}
	width := 8
	if class == elf.ELFCLASS32 {
		width = 4
	}
	if len(desc) < 3*width {
		return Note{}, fmt.Errorf("%d bytes hold no three addresses of %d", len(desc), width)
	}
	addr := func(i int) Addr {
		if width == 4 {
			return Addr(order.Uint32(desc[4*i:]))
		}
		return Addr(order.Uint64(desc[8*i:]))
	}
	n := Note{Location: addr(0), Base: addr(1), Semaphore: addr(2)}

	// One string for all three: a note costs one allocation.
	text := string(desc[3*width:])
	for _, part := range []struct {
		what string
		to   *string
		max  int
	}{{"provider", &n.Provider, maxNameBytes}, {"name", &n.Name, maxNameBytes}, {"arguments", &n.Args, maxArgsBytes}} {
		s, rest, ended := strings.Cut(text, "\x00")
		switch {
		case !ended:
			return Note{}, fmt.Errorf("%s not ended by a zero byte", part.what)
		case len(s) > part.max:
			return Note{}, fmt.Errorf("%s of %d bytes: more than %d", part.what, len(s), part.max)
		}
		*part.to, text = s, rest
	}
	// What follows the three strings is ignored, as libbpf does.
	if n.Provider == "" || n.Name == "" {
		return Note{}, fmt.Errorf("probe %q:%q without a provider or a name", clip(n.Provider), clip(n.Name))
	}
	return n, nil
}

// noteWalk steps through ELF notes of any owner.
type noteWalk struct {
	data  []byte
	order binary.ByteOrder
	align int // 4, or 8 in segments that hold .note.gnu.property

	at    int // offset of the note in data
	owner string
	kind  uint32
	desc  []byte
	err   error // set when a note runs out of data

	rest int
}

func (w *noteWalk) next() bool {
	w.at = w.rest
	left := w.data[w.at:]
	if len(left) < noteHeaderSize {
		for _, b := range left {
			if b != 0 { // zeros are padding
				w.err = fmt.Errorf("note at offset %#x: header cut off after %d bytes", w.at, len(left))
				break
			}
		}
		return false
	}
	nameSize, descSize := w.order.Uint32(left), w.order.Uint32(left[4:])
	w.kind = w.order.Uint32(left[8:])
	// In 64 bits no sum of these wraps.
	descAt := alignUp(noteHeaderSize+uint64(nameSize), w.align)
	end := descAt + uint64(descSize)
	if descSize == 0 {
		end = noteHeaderSize + uint64(nameSize)
	}
	if end > uint64(len(left)) {
		w.err = fmt.Errorf("note at offset %#x: %d bytes of name and %d of description run past the end at %#x",
			w.at, nameSize, descSize, len(w.data))
		return false
	}
	w.owner = ""
	if nameSize == uint32(len(noteOwner))+1 || nameSize == uint32(len(gnuOwner))+1 {
		name := left[noteHeaderSize : noteHeaderSize+nameSize]
		if name[nameSize-1] == 0 {
			w.owner = string(name[:nameSize-1])
		}
	}
	w.desc = nil
	if descSize > 0 {
		w.desc = left[descAt:end]
	}
	// The last note of a section may lack its padding.
	w.rest = w.at + int(min(alignUp(end, w.align), uint64(len(left))))
	return true
}

func alignUp(n uint64, to int) uint64 { return (n + uint64(to) - 1) &^ (uint64(to) - 1) }

// clip bounds text of a file for an error.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most-1] + "…"
	}
	return s
}
