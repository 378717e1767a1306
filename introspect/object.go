package introspect

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/schema"
)

// object is the content of an executable that describes points.
type object struct {
	symbols []symbol // nil when it is stripped
	entry   uint64   // where it begins to run
	schema  []byte   // the section that link wrote
}

// symbol is one symbol, at its address in the file.
type symbol struct {
	name        string
	value, size uint64
}

// open reads an executable of a platform, which must have ELF files. It keeps nothing of the reader.
func open(goos string, r io.ReaderAt) (o *object, err error) {
	defer func() { // debug/elf is not hardened
		if r := recover(); r != nil {
			o, err = nil, fmt.Errorf("it is damaged: %v", r)
		}
	}()
	switch goos {
	case "aix", "darwin", "ios", "js", "plan9", "wasip1", "windows":
		return nil, fmt.Errorf("executables of %s are not read: %w", goos, errors.ErrUnsupported)
	}
	return openELF(r)
}

// landmark is data that every executable with this package has, as its code has [All]: how
// far both lie from their symbols is how far the program was moved when it was loaded.
var landmark byte = 1

const ownPath = "github.com/waymark-trace/waymark/introspect"

var errOther = errors.New("it is not the one that this process runs, or this code was loaded as a library")

// moved returns how far the running program lies from where its file puts it.
func (o *object) moved() (uint64, error) {
	if o.symbols == nil {
		return o.movedFromEntry()
	}
	var data, code uint64
	for _, s := range o.symbols {
		switch s.name {
		case ownPath + ".landmark":
			data = s.value
		case ownPath + ".All":
			code = s.value
		}
	}
	by := uint64(reflect.ValueOf(&landmark).Pointer()) - data
	if data == 0 || by != uint64(reflect.ValueOf(All).Pointer())-code {
		return 0, errOther
	}
	return by, nil
}

// find returns the file's declaration of each of the points.
func (o *object) find(points []Point) (map[uintptr]declaration, error) {
	known := make(map[uintptr]declaration, len(points))
	for _, p := range points {
		known[p.Address] = declaration{}
	}
	if o.symbols == nil && o.schema == nil {
		return known, nil
	}
	by, err := o.moved()
	if err != nil {
		return nil, err
	}
	o.variables(known, by)
	return known, o.schemas(known, by)
}

// variables finds the symbols of package-level variables that the addresses lie in.
func (o *object) variables(known map[uintptr]declaration, by uint64) {
	sorted := make([]uint64, 0, len(known))
	for at := range known {
		if at != 0 {
			sorted = append(sorted, uint64(at)-by)
		}
	}
	slices.Sort(sorted)
	for _, s := range o.symbols {
		i, _ := slices.BinarySearchFunc(sorted, s.value, cmp.Compare)
		for ; i < len(sorted) && sorted[i]-s.value < max(s.size, 1) && isVariable(s.name); i++ {
			name := s.name
			if distance := sorted[i] - s.value; distance > 0 {
				name += "+" + strconv.FormatUint(distance, 10)
			}
			at := uintptr(sorted[i] + by)
			known[at] = declaration{symbol: name}
		}
	}
}

// isVariable reports whether a symbol can be a variable of the source: the linker adds its own at
// the beginning of sections, such as ".data" and runtime.data.
func isVariable(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "runtime.") && strings.Contains(name, ".")
}

// schemas finds the descriptions of the addresses that link wrote.
func (o *object) schemas(known map[uintptr]declaration, by uint64) error {
	if o.schema == nil {
		return nil
	}
	doc, err := schema.Decode(o.schema)
	if err != nil {
		return err
	}
	for _, m := range doc.Markers {
		at := uintptr(m.Counter - markerabi.OffArmed + by)
		if d, ok := known[at]; ok {
			d.schema = &m
			known[at] = d
		}
	}
	return nil
}
