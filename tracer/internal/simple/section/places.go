package section

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// PlaceSection is the section in which waymark link says where the simple markers of a Go
// program are. Lines are not enough for that: a line that follows a marker may also be reached
// around it. It is not loaded, and holds JSON, so that `readelf -p .waymark.simple` shows it.
const PlaceSection = ".waymark.simple"

// placeVersion is the version of the document that this package writes and reads.
const placeVersion = 1

// Document is everything that PlaceSection holds.
type Document struct {
	Version int `json:"version"`
	// BaseSize is the size in bytes of the file before link: what relinking cuts back to.
	BaseSize int64 `json:"base_size"`
	// Foreign is how many bytes of Section are C code's. Link's records follow them.
	Foreign int64 `json:"foreign"`
	// Go is the Go version that built the program.
	Go string `json:"go,omitempty"`
	// Goid is the offset in bytes of the goroutine's number in the runtime's g, which R14
	// points to in all of Go's code; 0 when link could not tell.
	Goid    int     `json:"goid,omitempty"`
	Markers Markers `json:"markers"`
}

// Marker is a simple marker of a Go program.
type Marker struct {
	Record
	Place Place `json:"place"`
}

// Place is where a marker is in the code.
type Place struct {
	// Functions are those that the marker is in, as symbols call them: one, unless it is generic,
	// or a literal of one that is inlined. "main.(*cache).get", "main.sum[go.shape.int]".
	Functions []string `json:"functions,omitempty"`
	Rule      Rule     `json:"rule"`
	// File and Line are of what stands for the marker in the line table: its own line, or that
	// of a statement after it.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	// Addresses are all the instructions that stand for it, ascending, as the file's symbols
	// count them. Each time the marker is passed one of them is executed, and at no other time.
	Addresses []uint64 `json:"addresses,omitempty"`
	// Reason says why there is no place: no address is known that is executed if and only if
	// the marker is passed. It must not be looked for by its line then.
	Reason string `json:"reason,omitempty"`
}

// Function returns what to call the function that the marker is in, "" when it is in none.
func (p *Place) Function() string {
	if len(p.Functions) == 0 {
		return ""
	}
	name := p.Functions[0]
	if i, j := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); i >= 0 && j > i {
		name = name[:i] + "[...]" + name[j+1:]
	}
	return name
}

// Rule says what of the source stands for a marker in the code.
type Rule string

const (
	Nowhere Rule = "none"   // nothing: see Place.Reason
	Anchor  Rule = "anchor" // the instruction that an anchored marker leaves
	Call    Rule = "call"   // the call of the marker itself, where inlining is off
	Next    Rule = "next"   // the statement that follows
	End     Rule = "end"    // the end of the function, which follows
)

var rules = []Rule{Nowhere, Anchor, Call, Next, End}

// Places are where the markers of a file are that waymark link wrote.
type Places struct {
	Of   map[Record]Place
	Go   string // as in Document
	Goid int
}

// ReadPlaces returns where the markers of an ELF file are that waymark link wrote. Other
// markers of the file, those of C and C++, are not among them: they are found by file and line.
func ReadPlaces(im *elffile.Image) (*Places, error) {
	data, err := im.Named(PlaceSection, MaxSize)
	switch {
	case errors.Is(err, elffile.ErrNoSection):
		return &Places{}, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", im.Path(), err)
	}
	d, err := DecodePlaces(data)
	if err != nil {
		return nil, fmt.Errorf("section %s of %s: %w", PlaceSection, im.Path(), err)
	}
	places := &Places{Of: make(map[Record]Place, len(d.Markers)), Go: d.Go, Goid: d.Goid}
	for _, m := range d.Markers {
		places.Of[m.Record] = m.Place
	}
	return places, nil
}

// EncodePlaces returns the section's contents: one marker a line.
func EncodePlaces(d *Document) ([]byte, error) {
	head := *d
	head.Version, head.Markers = placeVersion, Markers{}
	out, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	out = out[:len(out)-len("]}")]
	for i, m := range d.Markers {
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("simple marker %q: %w", m.Name, err)
		}
		line, err := json.Marshal(m)
		if err != nil {
			return nil, fmt.Errorf("simple marker %q: %w", m.Name, err)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, '\n'), line...)
	}
	if out = append(out, "\n]}\n"...); len(out) > MaxSize {
		return nil, fmt.Errorf("%d simple markers need %d bytes, at most %d are read", len(d.Markers), len(out), MaxSize)
	}
	return out, nil
}

// DecodePlaces reads what EncodePlaces wrote, and treats every byte of it as hostile.
func DecodePlaces(data []byte) (*Document, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("%d bytes, at most %d are read", len(data), MaxSize)
	}
	var version struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, err
	}
	if version.Version != placeVersion {
		return nil, fmt.Errorf("version %d, this waymark reads version %d", version.Version, placeVersion)
	}
	var d Document
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if d.BaseSize < 0 || d.Foreign < 0 || d.Foreign > MaxSize {
		return nil, fmt.Errorf("a file of %d bytes, of which %d are records", d.BaseSize, d.Foreign)
	}
	return &d, nil
}

// check reports what is wrong with a marker that was read, or is to be written.
func (m *Marker) check() error {
	if _, err := Append(nil, m.Record); err != nil {
		return err
	}
	p := &m.Place
	switch {
	case !slices.Contains(rules, p.Rule):
		return fmt.Errorf("rule %.40q", p.Rule)
	case (p.Rule == Nowhere) != (len(p.Addresses) == 0), (p.Rule == Nowhere) != (p.Reason != ""):
		return fmt.Errorf("rule %q, %d addresses, reason %.40q", p.Rule, len(p.Addresses), p.Reason)
	case len(p.File) > maxPath || p.Line < 0 || len(p.Reason) > maxText:
		return fmt.Errorf("line %d of %.40q", p.Line, p.File)
	}
	for i, a := range p.Addresses {
		if a == 0 || i > 0 && a <= p.Addresses[i-1] {
			return fmt.Errorf("address 0x%x after %d others", a, i)
		}
	}
	return nil
}
