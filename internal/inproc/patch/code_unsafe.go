//go:build linux && amd64 && !race

package patch

import "github.com/waymark-trace/waymark/internal/markerabi"

// This file is all that the package knows of x86-64. Another architecture has another of these, with
// the instruction that its processors allow to be replaced while they execute it.

// code is the part of a site that switches it: one store, which other threads see whole. On x86-64 it
// is the opcode of an instruction (docs/patching.md).
type code byte

// codeAt returns the code at an address of the program's text.
func codeAt(at uintptr) code { return *(*code)(address(at)) }

// bytes returns the bytes to store.
func (c code) bytes() []byte { return []byte{byte(c)} }

// whole reports whether the rest of the instruction is as link left it. A breakpoint can be on its
// prefix, where debuggers put one for the line, or in its operand; no jump may be made with that.
func (s *site) whole() bool {
	if s.prefixed && codeAt(s.at-1) != markerabi.SitePrefix {
		return false
	}
	for i, want := range s.operand[:s.operandSize()] {
		if codeAt(s.at+1+uintptr(i)) != code(want) {
			return false
		}
	}
	return true
}

func (s *site) operandSize() uintptr {
	if s.on == markerabi.JumpShort || s.on == markerabi.TestShort {
		return 1
	}
	return 4
}

// decodeCodes returns the codes of a site from the site table: off, on, and the one in the file.
func decodeCodes(entry []byte) (off, on, first code) {
	return code(entry[markerabi.OffSiteOff]), code(entry[markerabi.OffSiteOn]), code(entry[markerabi.OffSiteFirst])
}
