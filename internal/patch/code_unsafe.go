//go:build linux && amd64 && !race

package patch

import "github.com/waymark-trace/waymark/internal/markerabi"

// This file is all that the package knows of x86-64. Another architecture has another of these, with
// the instruction that its processors allow to be replaced while they execute it.

// code is what a site is switched by: one store, which other threads see whole. On x86-64 it is the opcode
// of an instruction (docs/patching.md).
type code byte

// codeAt returns what the program has at an address of its text.
func codeAt(at uintptr) code { return *(*code)(address(at)) }

// bytes returns what to store.
func (c code) bytes() []byte { return []byte{byte(c)} }

// whole reports whether the instruction begins as link left it: a breakpoint, or a uprobe, is on its first byte.
func (s *site) whole() bool {
	return !s.prefixed || codeAt(s.at-1) == markerabi.SitePrefix
}

// decodeCodes returns what the site table says of a site: off, on, and which the file has.
func decodeCodes(entry []byte) (off, on, first code) {
	return code(entry[markerabi.OffSiteOff]), code(entry[markerabi.OffSiteOn]), code(entry[markerabi.OffSiteFirst])
}
