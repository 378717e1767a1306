package link

import (
	"cmp"
	"slices"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// wordAt is an armed word: of a marker, a tracepoint or a key.
type wordAt struct {
	addr uint64
	kind string // "marker", "tracepoint", "key"
	name string // as declared
	live bool   // not zero in the file: a key that is on from the start
}

// Markers, tracepoints and keys begin alike: armed word, version, magic, name.
//
// The table is not a variable, because a program that links is searched for markers too.
func pointKinds() []pointKind {
	return []pointKind{
		{"marker", markerabi.MarkerMagic0, markerabi.MarkerMagic1},
		{"tracepoint", markerabi.TracepointMagic0, markerabi.TracepointMagic1},
		{"key", markerabi.KeyMagic0, markerabi.KeyMagic1},
	}
}

type pointKind struct {
	kind           string
	magic0, magic1 uint64
}

// findWords returns every armed word in the file's data, in address order.
func (img *image) findWords() []wordAt {
	var words []wordAt
	for _, k := range pointKinds() {
		var magic [16]byte
		le.PutUint64(magic[:], k.magic0)
		le.PutUint64(magic[8:], k.magic1)
		img.scanData(magic[:], func(at uint64) {
			addr := at - markerabi.OffMagic
			b := img.at(addr, markerabi.OffName+16)
			if b == nil || le.Uint16(b[markerabi.OffVersion:]) != markerabi.Version {
				return
			}
			name, err := img.str(addr+markerabi.OffName, event.MaxFormat)
			if err != nil {
				return
			}
			words = append(words, wordAt{
				addr: addr + markerabi.OffArmed, kind: k.kind, name: name,
				live: le.Uint32(b[markerabi.OffArmed:]) != 0,
			})
		})
	}
	slices.SortFunc(words, func(a, b wordAt) int { return cmp.Compare(a.addr, b.addr) })
	return words
}
