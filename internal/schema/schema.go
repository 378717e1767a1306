// Package schema is the typed metadata that waymark link leaves in a binary: for every
// marker the names and Go types of its fields, and their offsets in the record that is passed to
// the marker's stub. SDT notes have no room for any of this, and tools reject notes with more in
// them, so it has a section of its own.
//
// The section is not loaded and holds JSON, so that `readelf -p .waymark.schema` shows it.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Section is the name of the ELF section. Its version is inside.
const Section = ".waymark.schema"

// Version is the version of the document that this package writes. A reader accepts the
// versions it knows and refuses others.
const Version = 2

// MaxSize bounds the section that a reader takes, in bytes. A thousand markers with a
// hundred sites each need less.
const MaxSize = 16 << 20

// Document is everything the section holds.
type Document struct {
	Version int    `json:"version"`
	Go      string `json:"go,omitempty"` // the Go version that built the binary
	// Goid is the offset in bytes of the goroutine ID in the runtime's g, which R14 points to at
	// a stub; -1 if link did not find it.
	Goid int `json:"goid"`
	// BaseSize is the size in bytes of the file before link, to which relinking cuts it back.
	BaseSize int64 `json:"base_size"`
	// Code is the original code where link --optimize wrote, which relinking restores.
	Code    Code    `json:"code,omitempty"`
	Markers Markers `json:"markers"`
}

// Marker is one marker. Addresses are link-time virtual addresses.
type Marker struct {
	Provider string `json:"provider"`
	Name     string `json:"name"`
	Format   string `json:"format"`
	// Fields are the arguments. The value of one lies Offset bytes into the record that RAX points
	// to at the stub, laid out as Go lays out a struct: a string is pointer and length, a slice
	// pointer, length and capacity, 8 bytes each. The section leaves out the Size, which is the
	// kind's. There are no elements, names of values or reasons.
	Fields Fields `json:"fields"`
	// Typed is true if link knew the argument types; otherwise Fields is empty even if the
	// marker has arguments.
	Typed    bool   `json:"typed"`
	Location uint64 `json:"location"` // the marker's stub, to which its note points
	Counter  uint64 `json:"counter"`  // the kernel's half of its armed word
	Sites    Sites  `json:"sites,omitempty"`
}

// Site is one machine-code location that tests the marker's armed word.
type Site struct {
	Address  uint64 `json:"address"`
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	// Call is true if the site calls Mark, which then tests, because it was not inlined there.
	Call bool `json:"call,omitempty"`
	// Optimized is true if link --optimize rewrote it: while off it reads no armed word.
	Optimized bool `json:"optimized,omitempty"`
}

// Bytes are the bytes of code at an address.
type Bytes struct {
	Address uint64 `json:"address"`
	Hex     string `json:"hex"`
}

// Encode returns the section's contents: one marker a line.
func Encode(d *Document) ([]byte, error) {
	var b bytes.Buffer
	head := *d
	head.Markers = []Marker{}
	h, err := json.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("encoding schema: %w", err)
	}
	b.Write(bytes.TrimSuffix(h, []byte("]}")))
	for i, m := range d.Markers {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		line, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("encoding schema of %s:%s: %w", m.Provider, m.Name, err)
		}
		b.Write(line)
	}
	b.WriteString("\n]}\n")
	return b.Bytes(), nil
}

// Decode reads the output of Encode, and treats every byte of it as hostile.
func Decode(data []byte) (*Document, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("section %s: %d bytes, more than the %d a schema may have", Section, len(data), MaxSize)
	}
	var d Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("section %s: %w", Section, err)
	}
	if d.Version != Version {
		return nil, fmt.Errorf("section %s: version %d, this waymark reads version %d: build the program and link it again", Section, d.Version, Version)
	}
	return &d, nil
}
