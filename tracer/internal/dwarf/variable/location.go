// Package variable finds variables by name at an address of a program, with their locations and the
// steps to fetch their values, from the DWARF of gcc, clang and Go, versions 4 and 5.
//
// A variable that is not available at the address has an error that says why, never a location
// that only might be right.
package variable

import (
	"errors"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/tracer/internal/dwarf/location"
)

// ErrOptimized is the error of variables that the compiler keeps nowhere at an address.
var ErrOptimized error = event.OptimizedOut

// unavailable wraps ErrOptimized with more of a reason.
func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrOptimized}, args...)...)
}

// Kind says what a Location is.
type Kind uint8

const (
	None     Kind = iota // no location: Err says why
	Memory               // Program leaves the address
	Value                // Program leaves the value: a register, or what was computed
	Implicit             // Bytes are the value
	Pieces               // parts that lie in different places
)

// Location is where a variable lives at one address.
type Location struct {
	Kind    Kind
	Program location.Program
	Bytes   []byte
	Pieces  []Piece
	Err     error
	// Text says it for people: "register rdi", "stack cfa-24", "optimized out".
	Text string
}

// Piece is a part of a variable, Size bytes of it.
type Piece struct {
	Location
	Size int64
}

func nowhere(err error) Location {
	text := err.Error()
	if errors.Is(err, ErrOptimized) {
		text = "optimized out" + strings.TrimPrefix(text, ErrOptimized.Error())
	}
	return Location{Err: err, Text: text}
}

// Part returns size bytes of what a location has, from an offset.
func (l *Location) Part(offset, size int64) Location {
	switch l.Kind {
	case Memory:
		return Location{Kind: Memory, Program: l.Program.Plus(offset), Text: l.Text}
	case Value:
		if offset < 0 || size < 0 || offset > 8 || size > 8-offset {
			return nowhere(unavailable("a register holds less of it"))
		}
		p := l.Program
		if offset > 0 {
			p = p.With(location.Step{Op: location.Push, Arg: 8 * offset}, location.Step{Op: location.Shr})
		}
		return Location{Kind: Value, Program: p, Text: l.Text}
	case Implicit:
		if offset < 0 || size < 0 || offset > int64(len(l.Bytes)) || size > int64(len(l.Bytes))-offset {
			return nowhere(unavailable("a constant has less of it"))
		}
		return Location{Kind: Implicit, Bytes: l.Bytes[offset : offset+size], Text: l.Text}
	case Pieces:
		return l.pieces(offset, size)
	}
	return *l
}

// pieces returns a part of what lies in several places: it may reach over several of them.
func (l *Location) pieces(offset, size int64) Location {
	var parts []Piece
	at := int64(0)
	for i := range l.Pieces {
		p := &l.Pieces[i]
		from, to := max(offset, at), min(offset+size, at+p.Size)
		if from < to {
			part := p.Part(from-at, to-from)
			if part.Kind == None {
				return part
			}
			parts = append(parts, Piece{part, to - from})
		}
		at += p.Size
	}
	if offset+size > at || len(parts) == 0 {
		return nowhere(unavailable("no piece of it says where that part is"))
	}
	if len(parts) == 1 {
		return parts[0].Location
	}
	return Location{Kind: Pieces, Pieces: parts, Text: l.Text}
}

// Number returns the program that leaves the location's first size bytes as a number without a
// sign; bytes of a register above them are undefined.
func (l *Location) Number(size int64) (location.Program, error) {
	var p location.Program
	switch l.Kind {
	case Memory:
		p = l.Program.With(location.Step{Op: location.Deref, Arg: size})
	case Value:
		p = l.Program
	case Implicit:
		if size > 8 || int64(len(l.Bytes)) < size {
			return nil, unavailable("a constant of %d bytes for one of %d", len(l.Bytes), size)
		}
		var v uint64
		for i := size - 1; i >= 0; i-- {
			v = v<<8 | uint64(l.Bytes[i])
		}
		p = location.Program{{Op: location.Push, Arg: int64(v)}}
	case Pieces:
		var err error
		if p, err = l.joined(size); err != nil {
			return nil, err
		}
	default:
		return nil, l.Err
	}
	if err := p.Check(); err != nil {
		return nil, unavailable("where it is takes more than a probe computes: %w", err)
	}
	return p, nil
}

// joined makes a number of pieces, of which the first has the lowest bytes.
func (l *Location) joined(size int64) (location.Program, error) {
	var all location.Program
	at := int64(0)
	for i := range l.Pieces {
		part := &l.Pieces[i]
		n := min(part.Size, size-at)
		if n <= 0 {
			break
		}
		p, err := part.Number(n)
		if err != nil {
			return nil, err
		}
		if unused := 64 - 8*n; part.Kind == Value && unused > 0 {
			p = p.With(location.Step{Op: location.Push, Arg: unused}, location.Step{Op: location.Shl},
				location.Step{Op: location.Push, Arg: unused}, location.Step{Op: location.Shr})
		}
		if at == 0 {
			all = p
		} else {
			p = p.With(location.Step{Op: location.Push, Arg: 8 * at}, location.Step{Op: location.Shl})
			all = all.Join(p, location.Or)
		}
		at += n
	}
	if at < size || size > 8 {
		return nil, unavailable("its pieces are less than all of it")
	}
	return all, nil
}
