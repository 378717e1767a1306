package debuginfo

import (
	"bytes"
	"debug/dwarf"
	"errors"
	"fmt"
)

// LineSections are what line tables are read from.
type LineSections struct{ Line, LineStr, Str []byte }

// LineSections returns those of the file's debugging information.
func (f *File) LineSections() (s LineSections, err error) {
	var errs [3]error
	s.Line, errs[0] = f.Section("line")
	s.LineStr, errs[1] = f.Section("line_str")
	s.Str, errs[2] = f.Section("str")
	return s, errors.Join(errs[:]...)
}

// LineReader returns the line table of a unit, nil when it has none. debug/dwarf makes room for as
// many names as a header says, and copies each, also of those that instructions define: one that says 2³⁰ of them, or names
// the same megabyte again and again, ends the process. It is looked at here first.
func LineReader(data *dwarf.Data, s LineSections, unit *dwarf.Entry) (*dwarf.LineReader, error) {
	at, ok := unit.Val(dwarf.AttrStmtList).(int64)
	if !ok || at < 0 || at > int64(len(s.Line)) {
		return nil, nil
	}
	if dir, _ := unit.Val(dwarf.AttrCompDir).(string); len(dir) > maxName {
		return nil, fmt.Errorf("a unit compiled in a directory with a name of %d bytes", len(dir))
	}
	h := lineHeader{LineSections: s, b: Buffer{Data: s.Line, At: int(at)}}
	if err := h.check(); err != nil {
		return nil, fmt.Errorf("line table at %#x: %w", at, err)
	}
	return data.LineReader(unit)
}

const (
	maxName  = 4096    // of a file or directory, in bytes: what Linux takes
	maxNames = 1 << 16 // of a unit's files, and of their directories
)

var errNames = fmt.Errorf("more than %d files or directories, or a name of more than %d bytes", maxNames, maxName)

// lineHeader is the header of a line table: DWARF 5, 6.2.4.
type lineHeader struct {
	LineSections
	b    Buffer
	word int // the size of offsets
}

func (h *lineHeader) check() error {
	b := &h.b
	h.word = 4
	size := b.Uint(4)
	if size == 0xffffffff {
		h.word = 8
		size = b.Uint(8)
	}
	if size > uint64(b.Len()) {
		return errCut
	}
	b.Data = b.Data[:b.At+int(size)]
	version := b.Uint(2)
	if version >= 5 {
		b.Uint(2) // sizes of addresses and segment selectors
	}
	instructions := b.Uint(h.word) // how far they are
	instructions += uint64(b.At)
	b.Uint(1)
	if version >= 4 {
		b.Uint(1) // operations of an instruction
	}
	b.Bytes(3)          // statements, line base, line range
	var operands []byte // how many each standard instruction has
	if n := b.Uint(1); n > 0 {
		operands = b.Bytes(n - 1)
	}
	var err error
	if version >= 5 {
		err = errors.Join(h.entries(), h.entries())
	} else {
		err = errors.Join(h.names(0), h.names(3))
	}
	if err = errors.Join(err, b.Err); err != nil {
		return err
	}
	if instructions > uint64(len(b.Data)) {
		return errCut
	}
	b.At = int(instructions)
	return h.instructions(operands)
}

const (
	fixedAdvancePC = 9
	defineFile     = 3 // of the extended ones
)

// instructions goes over them: DWARF 5, 6.2.5. One that defines a file has not been seen of a compiler.
func (h *lineHeader) instructions(operands []byte) error {
	b := &h.b
	for defined := 0; b.Err == nil && b.At < len(b.Data); {
		code := b.Data[b.At]
		b.At++
		switch {
		case int(code) > len(operands):
		case code == 0:
			extended := b.Bytes(b.Uleb())
			if len(extended) == 0 || extended[0] != defineFile {
				continue
			}
			name, _, _ := bytes.Cut(extended[1:], []byte{0})
			if defined++; defined > maxNames || len(name) > maxName {
				return errNames
			}
		case code == fixedAdvancePC:
			b.skip(2)
		default:
			for range operands[code-1] {
				b.Uleb()
			}
		}
	}
	return b.Err
}

// names reads names with numbers behind each, up to an empty one: those before DWARF 5.
func (h *lineHeader) names(numbers int) error {
	for range maxNames {
		name := h.b.String()
		if name == "" || h.b.Err != nil {
			return nil
		}
		if len(name) > maxName {
			return errNames
		}
		for range numbers {
			h.b.Uleb()
		}
	}
	return errNames
}

// entries reads a list of directories or files.
func (h *lineHeader) entries() error {
	forms := make([]uint64, h.b.Uint(1))
	for i := range forms {
		h.b.Uleb()
		forms[i] = h.b.Uleb()
	}
	n := h.b.Uleb()
	if n > maxNames || n > 0 && len(forms) == 0 {
		return errNames
	}
	for range n {
		for _, form := range forms {
			if err := h.form(form); err != nil || h.b.Err != nil {
				return err
			}
		}
	}
	return nil
}

// Forms that tell of files: DWARF 5, 7.5.6.
const (
	formData2    = 0x05
	formData4    = 0x06
	formData8    = 0x07
	formString   = 0x08
	formBlock    = 0x09
	formData1    = 0x0b
	formStrp     = 0x0e
	formUdata    = 0x0f
	formData16   = 0x1e
	formLineStrp = 0x1f
)

// form goes over one value.
func (h *lineHeader) form(form uint64) error {
	switch b := &h.b; form {
	case formString:
		if len(b.String()) > maxName {
			return errNames
		}
	case formStrp:
		return text(h.Str, b.Uint(h.word))
	case formLineStrp:
		return text(h.LineStr, b.Uint(h.word))
	case formUdata:
		b.Uleb()
	case formBlock:
		b.Bytes(b.Uleb())
	case formData1, formData2, formData4, formData8, formData16:
		b.Bytes(map[uint64]uint64{formData1: 1, formData2: 2, formData4: 4, formData8: 8, formData16: 16}[form])
	default:
		return fmt.Errorf("a file told of by form %#x", form)
	}
	return nil
}

// text checks the length of a name in a section of strings.
func text(section []byte, at uint64) error {
	if at >= uint64(len(section)) {
		return errCut
	}
	if left := section[at:]; bytes.IndexByte(left[:min(len(left), maxName+1)], 0) < 0 {
		return errNames
	}
	return nil
}
