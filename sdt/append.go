package sdt

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// AppendNote appends n as a note of a 64-bit little-endian file, padded to 4 bytes. The
// description ends exactly with the argument text: bcc takes nothing else
// (parse_stapsdt_note, bcc_elf.c).
func AppendNote(dst []byte, n Note) ([]byte, error) {
	for _, part := range []struct {
		what, text string
		max        int
	}{{"provider", n.Provider, maxNameBytes}, {"name", n.Name, maxNameBytes}, {"arguments", n.Args, maxArgsBytes}} {
		switch {
		case part.text == "" && part.what != "arguments":
			return dst, fmt.Errorf("note of probe %q:%q: empty %s", clip(n.Provider), clip(n.Name), part.what)
		case len(part.text) > part.max:
			return dst, fmt.Errorf("note of probe %q:%q: %s of %d bytes: more than %d",
				clip(n.Provider), clip(n.Name), part.what, len(part.text), part.max)
		case strings.IndexByte(part.text, 0) >= 0:
			return dst, fmt.Errorf("note of probe %q:%q: zero byte in the %s", clip(n.Provider), clip(n.Name), part.what)
		}
	}
	descSize := 3*8 + len(n.Provider) + len(n.Name) + len(n.Args) + 3
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, uint32(len(noteOwner)+1))
	dst = le.AppendUint32(dst, uint32(descSize))
	dst = le.AppendUint32(dst, noteVersion)
	dst = append(dst, noteOwner+"\x00"...)
	for _, a := range []Addr{n.Location, n.Base, n.Semaphore} {
		dst = le.AppendUint64(dst, uint64(a))
	}
	for _, s := range []string{n.Provider, n.Name, n.Args} {
		dst = append(append(dst, s...), 0)
	}
	for pad := descSize; pad%noteAlign != 0; pad++ {
		dst = append(dst, 0)
	}
	return dst, nil
}
