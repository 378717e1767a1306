// Package model defines the nouns of package tracer that other packages below it share: markers, the
// files that have them, and errors. It finds markers in files and processes.
package model

import (
	"cmp"
	"context"
	"debug/elf"
	"os"
	"slices"
	"sync"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
)

// Marker is one named marker of one file, with all its sites, or a tracepoint.
type Marker struct {
	// Point has its name and the fields of its events. The fields of markers of other emitters are
	// arg1…argN, with kinds taken from the operands, unless a catalogue describes the marker.
	event.Point
	// Args are the sources of Fields, one for each. They are nil for markers that pass a record.
	Args []Argument
	// Typed says that names and types come from waymark's own metadata.
	Typed bool
	// Tracepoint says that it is a Go-typed tracepoint, which only the agent of a program tells of.
	Tracepoint bool
	// Unnamed is why arguments have no names though they are known for a marker of this name, nil
	// when they have or nothing is known.
	Unnamed error
	// Sites are the places where it fires: one per note.
	Sites []sdt.Site
	// Counted says that a reference counter guards it.
	Counted bool
	// Simple is what a marker has that leaves no instruction, nil for others.
	Simple *Simple
	// File is where it is.
	File *File

	declared string           // its name in a program that was found through its agent, "" otherwise
	readings []readings       // of a simple marker, for each of Sites
	record   int              // which of its file's simple markers it is
	goCode   bool             // its code is Go's, without a red zone
	records  []*schema.Marker // for each of Sites what it hands over, nil for its operands
}

// Counters returns the values that the reference counters of the marker's sites have in a process
// of the target it was found in, 0 for sites without one. The kernel raises a counter by one
// however many tracers use it; those that raise it themselves, as some do, add one each. It reads
// the process's memory, for which it needs what ptrace needs.
func (m *Marker) Counters(pid int) ([]uint16, error) { return m.counters(pid) }

// NewDeclared returns a marker or tracepoint of a running program, without its fields.
func NewDeclared(p event.Point, file *File, tracepoint bool) *Marker {
	return &Marker{Point: p, Typed: true, Tracepoint: tracepoint, File: file, declared: p.FullName()}
}

// Argument is the source of a field's value at the sites of a marker with operands.
type Argument struct {
	// Operand is the N of argN: the number of the site's operand that is the field, or that points
	// to the field's text.
	Operand int

	length int  // the operand with the length of text, 0 when a NUL ends it
	given  bool // the field's kind does not come from the operands
}

// ArgumentOf returns the source of field number i, or the zero Argument if it is not an operand.
func ArgumentOf(m *Marker, i int) Argument {
	if i < 0 || i >= len(m.Args) {
		return Argument{}
	}
	return m.Args[i]
}

// File is an executable or shared library that carries markers.
type File struct {
	Path    string // as the user should see it
	BuildID string // hexadecimal, "" for none
	Go      string // the Go version that built it, "" when not a linked Go program
	// Optimized is how many sites of its markers, tracepoints and keys waymark link --optimize
	// rewrote.
	Optimized int
	// Problems are what was wrong with the file's notes, each naming its place. The notes
	// that could be read are still used.
	Problems []error

	machine elf.Machine
	id      Identity
	opens   []string // paths that open this very file, even after it was deleted or replaced
	held    *os.File // the file, nil if it must be opened again; closed after its last use
	goid    int      // offset of the goroutine number in the runtime's g, -1 when not known

	functions functions

	linker []uint64 // where a dynamic linker passes when it has mapped something: offsets

	// seen holds the processes in which the file was found, by PID.
	seen map[int]sighting
}

// NewFile returns a file for a machine, and with the offset of the goroutine number in the
// runtime's g, or -1. The file of a program found through its agent has neither.
func NewFile(f *File, machine elf.Machine, goid int) *File {
	f.machine, f.goid, f.seen = machine, goid, map[int]sighting{}
	return f
}

// sighting is what tells a process, and the program it runs, from later ones of its number.
type sighting struct {
	start  uint64 // when the process began
	mapped procfs.File
}

// Identity is what a file keeps as long as nobody writes to it.
type Identity struct {
	Device, Inode uint64
	size          int64
	modified      int64 // nanoseconds since 1970
}

// Process is a running process and its markers.
type Process struct {
	PID     int
	OwnPID  int // in its own PID namespace, when that is below the one of this process; else 0
	Comm    string
	Markers []*Marker // shared by the processes that map the same file
	// Err says why the process could not be looked at, or not all of it.
	Err error
}

// FindAll returns every running process that has markers, or that could not be looked at,
// in order of PID. Kernel threads are left out, and processes that end meanwhile are no
// error. Each file is read once however many processes map it.
func FindAll(ctx context.Context) ([]Process, error) { return findAll(ctx) }

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

// CodeSite is a location in a linked Go program that tests whether a marker is armed. All CodeSites
// of a marker call the same stub, which is the marker's own site.
type CodeSite struct {
	Address        uint64
	Function, File string
	Line           int
	Call           bool // it calls Mark, which makes the test
	Optimized      bool // link --optimize rewrote it
}

// Code returns the locations that test the marker, as found by waymark link. It returns none for
// markers of other emitters.
func (m *Marker) Code() (all []CodeSite) {
	for i, r := range m.records {
		if r == nil || slices.Contains(m.records[:i], r) {
			continue
		}
		for _, s := range r.Sites {
			all = append(all, CodeSite(s))
		}
	}
	return all
}

// functions are the functions in the symbol table of a file, by address. They are read on request.
type functions struct {
	once sync.Once
	all  []function
}

type function struct {
	name        string
	begin, size uint64
}

// FunctionAt returns the name of the function at an address of the file, from its symbol table. It
// returns "" if the table has none, or if the file is not the one that Find read.
func (f *File) FunctionAt(address uint64) string {
	f.functions.once.Do(func() {
		f.functions.all = f.readFunctions()
		slices.SortFunc(f.functions.all, func(a, b function) int { return cmp.Compare(a.begin, b.begin) })
	})
	all := f.functions.all
	i, found := slices.BinarySearchFunc(all, address, func(f function, at uint64) int { return cmp.Compare(f.begin, at) })
	if !found {
		i--
	}
	if i < 0 || address-all[i].begin >= max(all[i].size, 1) {
		return ""
	}
	return all[i].name
}
