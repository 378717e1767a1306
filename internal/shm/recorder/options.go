package recorder

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/inproc/point"
	"github.com/waymark-trace/waymark/internal/shm/ring"
)

// Options say what to record, and where to.
type Options struct {
	// Dir is where the file Name.ring is made; it exists, and is safe. "" has the rings in memory
	// of the process: File returns them.
	Dir, Name string
	// Sealed, without Dir, has the rings in memory that other processes can map: ring.Options.Sealed.
	Sealed bool
	// Patterns choose markers, as in package tracer; none chooses all. Markers that appear later count.
	Patterns []string
	Mode     ring.Mode
	Size     uint64 // bytes of all rings; 0 for a default
	// SubBuffers is how many parts a ring has; 0 for as many as suit its size.
	SubBuffers int
	// Where is a condition: docs/filters.md. What it keeps out is counted.
	Where string
	// MaxString is how many bytes of a string or []byte are kept; 0 for DefaultMaxString.
	MaxString int
}

// DefaultMaxString is how many bytes of a text are kept unless somebody says otherwise.
const DefaultMaxString = 4096

const maxMaxString = 1 << 20

// check reports what is wrong with the options by themselves.
func (o *Options) check() (*filter.Expr, error) {
	if o.Dir != "" && (o.Name == "" || filepath.Base(o.Name) != o.Name || strings.ContainsAny(o.Name, "/\\\x00")) {
		return nil, fmt.Errorf("%q is no name of a session: it becomes a file's", o.Name)
	}
	if o.MaxString < 0 || o.MaxString > maxMaxString {
		return nil, fmt.Errorf("at most %d bytes of a text: 0 to %d are possible", o.MaxString, maxMaxString)
	}
	if _, err := o.chooses(&point.Recordable{Name: "a:b"}); err != nil {
		return nil, err
	}
	if o.Where == "" {
		return nil, nil
	}
	return filter.Parse(o.Where)
}

// ErrNoMarker says that there is nothing to record.
var ErrNoMarker = errors.New("no marker of the program matches")

// chooses reports whether a pattern matches the marker.
func (o *Options) chooses(m *point.Recordable) (bool, error) {
	provider, name, ok := strings.Cut(m.Name, ":")
	if !ok {
		provider, name = "", m.Name
	}
	found := len(o.Patterns) == 0
	for _, pattern := range o.Patterns {
		wantProvider, wantName, both := strings.Cut(pattern, ":")
		if !both {
			wantProvider, wantName = "*", pattern
		}
		p, err := path.Match(wantProvider, provider)
		if err == nil {
			var n bool
			n, err = path.Match(wantName, name)
			p = p && n
		}
		if err != nil {
			return false, fmt.Errorf("pattern %q: %w", pattern, err)
		}
		found = found || p
	}
	return found, nil
}
