package main

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/arch/x86/x86asm"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/tracer/link"
)

// blankSites copies a program that was linked with --optimize, and makes NOPs of what its sites are: what
// remains of a marker is how the compiler laid out the code around it. It is not to be armed any more.
//
// Behind a site that falls through goes on what went on. One that jumps, because a jump of the compiler's is
// all that follows, leaves that one. Sites around which code lies in line stay.
func blankSites(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := elf.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	section, text := f.Section(markerabi.SitesSection), f.Section(".text")
	if section == nil || text == nil {
		return fmt.Errorf("%s has no sites", from)
	}
	table, err := section.Data()
	if err != nil {
		return err
	}
	blanked := 0
	for table = table[markerabi.SitesHeaderSize:]; len(table) >= markerabi.SiteSize; table = table[markerabi.SiteSize:] {
		at := binary.LittleEndian.Uint64(table) - text.Addr
		if at >= text.Size {
			return fmt.Errorf("%s: a site outside of its code", from)
		}
		code := data[text.Offset+at:][:text.Size-at]
		n, err := blankLength(code)
		if err != nil {
			return fmt.Errorf("%s: the site at 0x%x: %w", from, text.Addr+at, err)
		}
		if n == 0 {
			continue
		}
		begin := text.Offset + at - uint64(table[markerabi.OffSitePrefix])
		link.Pad(data[begin : text.Offset+at+uint64(n)])
		blanked++
	}
	if blanked == 0 {
		return errors.New("no site that can be made NOPs")
	}
	return os.WriteFile(to, data, 0o777)
}

// blankLength returns how much of the code at a site belongs to it, 0 where a jump leads over code.
func blankLength(code []byte) (int, error) {
	target, jumps := 0, false
	for at := 0; at < min(len(code), 64); {
		in, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			return 0, err
		}
		rel, jump := in.Args[0].(x86asm.Rel)
		to := at + in.Len + int(rel)
		switch {
		case at == 0 && !jump:
			return in.Len, nil // a NOP is behind it already
		case at == 0:
			target, jumps = to, true
		case jump && jumps && in.Op == x86asm.JMP && to == target:
			return at, nil
		case !jump && in.Op != x86asm.NOP:
			return 0, nil
		}
		at += in.Len
	}
	return 0, nil
}
