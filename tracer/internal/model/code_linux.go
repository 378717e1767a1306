package model

import (
	"debug/elf"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// maxFunctionName bounds the name of a function, in bytes.
const maxFunctionName = 4096

func (f *File) readFunctions() (all []function) {
	opened, err := f.open()
	if err != nil {
		return nil
	}
	defer opened.Close()
	im, err := elffile.FromFile(opened, "")
	if err != nil {
		return nil
	}
	defer im.Close()
	_ = im.Symbols(elf.SHT_SYMTAB, func(s *elffile.Symbol) {
		if s.Type == elf.STT_FUNC && s.Defined() {
			all = append(all, function{string(s.Name(maxFunctionName)), s.Value, s.Size})
		}
	})
	return all
}
