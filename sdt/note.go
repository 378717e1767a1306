package sdt

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// The note as sys/sdt.h (SystemTap 4.8, _SDT_ASM_BODY) writes it, padded to 4 bytes:
//
//	namesz 8 | descsz | type 3 | "stapsdt\0" | location | base | semaphore |
//	provider \0 name \0 arguments \0
//
// The three addresses have the width of the file's class, everything its byte order.
const (
	noteOwner   = "stapsdt"
	noteVersion = 3
	noteAlign   = 4
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
	walk := elffile.Notes{Data: section, Order: order, Align: noteAlign}
	for walk.Next() {
		if string(walk.Owner) != noteOwner {
			continue
		}
		if len(notes)+len(errs) == maxNotes {
			return notes, append(errs, fmt.Errorf("note at offset %#x: more than %d notes", walk.At, maxNotes))
		}
		n, err := parseNote(walk.Kind, walk.Desc, class, order)
		if err != nil {
			errs = append(errs, fmt.Errorf("note at offset %#x: %w", walk.At, err))
			continue
		}
		notes = append(notes, n)
	}
	if walk.Err != nil {
		errs = append(errs, walk.Err)
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
	// Bytes after the three strings are ignored, as by libbpf.
	if n.Provider == "" || n.Name == "" {
		return Note{}, fmt.Errorf("probe %q:%q without a provider or a name", clip(n.Provider), clip(n.Name))
	}
	return n, nil
}

// clip bounds text of a file for an error.
func clip(s string) string {
	const most = 60
	if len(s) > most {
		return s[:most-1] + "…"
	}
	return s
}
