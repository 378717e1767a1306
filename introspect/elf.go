package introspect

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/schema"
)

// maxSymbol bounds the name of a symbol, in bytes. Those of instances of generic code are long.
const maxSymbol = 64 << 10

func openELF(r io.ReaderAt) (*object, error) {
	im, err := elffile.Of(r, "")
	if errors.Is(err, elffile.ErrNotELF) {
		return nil, fmt.Errorf("bad magic: it is %w", err)
	}
	if err != nil {
		return nil, err
	}
	o := &object{entry: im.Entry}
	if o.schema, err = im.Named(schema.Section, schema.MaxSize); err != nil && !errors.Is(err, elffile.ErrNoSection) {
		return nil, err
	}
	err = im.Symbols(elf.SHT_SYMTAB, func(s *elffile.Symbol) {
		if s.Type == elf.STT_OBJECT || s.Type == elf.STT_FUNC {
			o.symbols = append(o.symbols, symbol{string(s.Name(maxSymbol)), s.Value, s.Size})
		}
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// atEntry is the key of the program's entry address in the auxiliary vector, which the kernel passes
// to a new program; see getauxval(3).
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
