package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// The lists of a document check every element before they read the next: a list of empty
// objects, three bytes each, must not become one of structures, a hundred times as long.
type (
	// Markers is a list of markers, at most maxMarkers.
	Markers []Marker
	// Fields is a list of fields, at most as many as a marker has arguments.
	Fields []event.Field
	// Sites is a list of sites.
	Sites []Site
	// Code is a list of pieces of code.
	Code []Bytes
)

const (
	maxMarkers = 1 << 16 // the largest pool of stubs that link accepts
	maxSites   = 1 << 18 // of one marker
	maxCode    = 1 << 20
	maxPiece   = 64  // bytes of one piece of code, four instructions
	maxRecord  = 256 // bytes: eight slices are 192
)

// UnmarshalJSON reads a list.
func (l *Markers) UnmarshalJSON(data []byte) (err error) {
	*l, err = readList(data, "markers", maxMarkers, (*Marker).check)
	return err
}

// UnmarshalJSON reads a list.
func (l *Fields) UnmarshalJSON(data []byte) (err error) {
	*l, err = readList(data, "fields", markerabi.MaxArity, checkField)
	return err
}

// UnmarshalJSON reads a list.
func (l *Sites) UnmarshalJSON(data []byte) (err error) {
	*l, err = readList(data, "sites", maxSites, (*Site).check)
	return err
}

// UnmarshalJSON reads a list.
func (l *Code) UnmarshalJSON(data []byte) (err error) {
	*l, err = readList(data, "pieces of code", maxCode, (*Bytes).check)
	return err
}

func readList[T any](data []byte, what string, most int, check func(*T) error) ([]T, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		if t == nil && err == nil {
			return nil, nil // null
		}
		return nil, fmt.Errorf("%s are not a list", what)
	}
	list := []T{}
	for d.More() {
		if len(list) == most {
			return nil, fmt.Errorf("more than %d %s", most, what)
		}
		var one T
		if err := d.Decode(&one); err != nil {
			return nil, fmt.Errorf("%s, number %d: %w", what, len(list)+1, err)
		}
		if err := check(&one); err != nil {
			return nil, fmt.Errorf("%s, number %d: %w", what, len(list)+1, err)
		}
		list = append(list, one)
	}
	return list, nil
}

func (m *Marker) check() error {
	if m.Provider == "" || m.Name == "" {
		return fmt.Errorf("marker %.40q:%.40q lacks a name", m.Provider, m.Name)
	}
	return nil
}

// checkField also sets the field's size, which the section leaves out.
func checkField(f *event.Field) error {
	size := f.Kind.Size()
	switch {
	case f.Kind == event.Invalid:
		return fmt.Errorf("field %.40q has no kind", f.Name)
	case f.Offset < 0 || f.Offset > maxRecord-size:
		return fmt.Errorf("field %.40q at offset %d lies outside any record", f.Name, f.Offset)
	case f.Size != 0 && f.Size != size:
		return fmt.Errorf("field %.40q has %d bytes, its kind %d", f.Name, f.Size, size)
	case f.Elem != event.Invalid || f.Names != nil || f.Unavailable != "":
		return fmt.Errorf("field %.40q is none of a marker: it has elements, names of values or a reason", f.Name)
	}
	f.Size = size
	return nil
}

func (s *Site) check() error {
	if s.Address == 0 {
		return fmt.Errorf("site in %.40q has no address", s.Function)
	}
	return nil
}

func (b *Bytes) check() error {
	if n := len(b.Hex); n == 0 || n%2 != 0 || n > 2*maxPiece {
		return fmt.Errorf("%d digits of code at 0x%x", n, b.Address)
	}
	return nil
}
