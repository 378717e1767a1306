package introspect

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/waymark-trace/waymark/internal/schema"
)

// maxSymbols bounds the symbol table that is read, in bytes. The largest Go programs have a
// tenth of it.
const maxSymbols = 256 << 20

func openELF(r io.ReaderAt) (*object, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	o := &object{entry: f.Entry}
	if s := f.Section(schema.Section); s != nil {
		if s.Size > schema.MaxSize {
			return nil, fmt.Errorf("section %s: %d bytes, more than the %d a schema may have", s.Name, s.Size, schema.MaxSize)
		}
		if o.schema, err = s.Data(); err != nil {
			return nil, fmt.Errorf("section %s: %w", s.Name, err)
		}
	}
	for _, s := range f.Sections {
		if s.Type == elf.SHT_SYMTAB && s.Size > maxSymbols {
			return nil, fmt.Errorf("section %s: %d bytes of symbols, more than the %d that are read", s.Name, s.Size, maxSymbols)
		}
	}
	symbols, err := f.Symbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	for _, s := range symbols {
		if t := elf.ST_TYPE(s.Info); t == elf.STT_OBJECT || t == elf.STT_FUNC {
			o.symbols = append(o.symbols, symbol{s.Name, s.Value, s.Size})
		}
	}
	return o, nil
}

// atEntry is the key of the auxiliary vector, what the kernel tells a new program, under which
// the address lies where it begins to run; see getauxval(3).
const atEntry = 9

// movedFromEntry is moved for a file without symbols.
func (o *object) movedFromEntry() (uint64, error) {
	auxv, err := os.ReadFile("/proc/self/auxv")
	if err != nil {
		return 0, fmt.Errorf("it is stripped, and where it was loaded is not known: %w", err)
	}
	const word = strconv.IntSize / 8
	for ; len(auxv) >= 2*word; auxv = auxv[2*word:] {
		if nativeWord(auxv) == atEntry {
			return nativeWord(auxv[word:]) - o.entry, nil
		}
	}
	return 0, errors.New("it is stripped, and /proc/self/auxv does not say where it was loaded")
}

func nativeWord(b []byte) uint64 {
	if strconv.IntSize == 32 {
		return uint64(binary.NativeEndian.Uint32(b))
	}
	return binary.NativeEndian.Uint64(b)
}
