package link

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// markerAt is one marker of the file.
type markerAt struct {
	addr     uint64
	arity    int
	fullName string // as declared, with or without a provider
	provider string
	name     string
	format   string
	args     []argument // nil when no site told their types
	disputed bool       // sites told different types
	sites    []siteAt
	taken    *siteAt // where code first takes its address
}

// argument is the type of one argument.
type argument struct {
	kind     event.Kind
	typeName string
}

func (m *markerAt) counter() uint64 { return m.addr + markerabi.OffArmed }

// maxErrors is how many wrong markers are reported at once.
const maxErrors = 20

// findMarkers returns every marker in the file's data, in address order.
func (img *image) findMarkers() ([]*markerAt, error) {
	var magic [16]byte
	le.PutUint64(magic[:], markerabi.MarkerMagic0)
	le.PutUint64(magic[8:], markerabi.MarkerMagic1)
	var markers []*markerAt
	var errs []error
	img.scanData(magic[:], func(at uint64) {
		if len(errs) >= maxErrors || len(markers) > int(img.anchor.stubs) {
			return
		}
		m, err := img.readMarker(at - markerabi.OffMagic)
		if err != nil {
			errs = append(errs, err)
			return
		}
		markers = append(markers, m)
	})
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return markers, nil
}

func (img *image) readMarker(addr uint64) (*markerAt, error) {
	b := img.at(addr, markerabi.HeaderSize)
	if b == nil {
		return nil, fmt.Errorf("%w: the marker at 0x%x is cut off", ErrLayout, addr)
	}
	if v := le.Uint16(b[markerabi.OffVersion:]); v != markerabi.Version {
		return nil, versionError(uint64(v))
	}
	m := &markerAt{addr: addr, arity: int(b[markerabi.OffArity])}
	if m.arity > markerabi.MaxArity {
		return nil, fmt.Errorf("%w: the marker at 0x%x has %d arguments", ErrLayout, addr, m.arity)
	}
	var err error
	if m.fullName, err = img.str(addr+markerabi.OffName, event.MaxFormat); err != nil {
		return nil, fmt.Errorf("%w: the name of the marker at 0x%x: %w", ErrLayout, addr, err)
	}
	if m.format, err = img.str(addr+markerabi.OffFormat, event.MaxFormat); err != nil {
		return nil, fmt.Errorf("%w: the format of marker %q: %w", ErrLayout, m.fullName, err)
	}
	m.provider, m.name, err = event.ParseName(m.fullName)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrMarker, m.fullName, err)
	}
	return m, nil
}

// check compares the marker's format with its argument types.
func (m *markerAt) check() ([]event.Verb, error) {
	if m.args == nil && m.arity > 0 {
		return event.ParseFormat(m.format)
	}
	kinds := make([]event.Kind, len(m.args))
	for i, a := range m.args {
		kinds[i] = a.kind
	}
	verbs, err := event.Check(m.format, kinds)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrMarker, m.fullName, err)
	}
	return verbs, nil
}
