package model

import (
	"debug/elf"

	"github.com/waymark-trace/waymark/internal/schema"
)

// The packages below tracer read the parts of the nouns that are not for users by these functions.

// Records returns, for each of the marker's Sites, the record that the site passes, or nil if it
// passes operands.
func Records(m *Marker) []*schema.Marker { return m.records }

// Record returns one of Records.
func Record(m *Marker, site int) *schema.Marker {
	if site >= len(m.records) {
		return nil
	}
	return m.records[site]
}

// ReadingsOf returns, for each of a simple marker's Sites, how each of its fields is fetched.
func ReadingsOf(m *Marker) []readings { return m.readings }

// GoCode reports whether the marker is in Go code, which has no red zone.
func GoCode(m *Marker) bool { return m.goCode }

// Declared returns the name by which a program's agent knows the marker, or "" if it was not found
// through an agent.
func Declared(m *Marker) string { return m.declared }

// Given reports whether the kind of an argument's field does not come from the operands.
func Given(a Argument) bool { return a.given }

// TextOperand returns the number of the operand with the length of an argument's text, or 0 if a NUL
// ends the text.
func TextOperand(a Argument) int { return a.length }

// Machine returns the processor that the file is for.
func Machine(f *File) elf.Machine { return f.machine }

// Goid returns the offset of the goroutine number in the runtime's g, or -1 if unknown.
func Goid(f *File) int { return f.goid }

// ID returns the identity of the file.
func ID(f *File) Identity { return f.id }

// Paths returns the paths that open this very file, even after it was deleted or replaced.
func Paths(f *File) []string { return f.opens }

// Linker returns the offsets where a dynamic linker passes after it has mapped a file.
func Linker(f *File) []uint64 { return f.linker }
