package model

import (
	"debug/elf"
	"path"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// linkerSymbol is the function that dynamic linkers call after each change of what is mapped,
// for debuggers: r_brk of struct r_debug in link.h. glibc and musl have it under this name. (glibc
// also has SDT markers for that, rtld:map_complete and others; Debian builds it without.)
const linkerSymbol = "_dl_debug_state"

// mayLink reports whether a file may be a dynamic linker: ld-linux-x86-64.so.2, ld-2.31.so,
// ld-musl-x86_64.so.1, ld64.so.2. Others are not searched.
func mayLink(name string) bool { return strings.HasPrefix(path.Base(name), "ld") }

// linkerSites returns the offset of linkerSymbol in a file, when it has one.
func linkerSites(im *elffile.Image) (sites []uint64) {
	_ = im.Symbols(elf.SHT_DYNSYM, func(s *elffile.Symbol) {
		if !s.Defined() || string(s.Name(len(linkerSymbol)+1)) != linkerSymbol || sites != nil {
			return
		}
		if offset, err := im.CodeOffset(s.Value); err == nil {
			sites = []uint64{offset}
		}
	})
	return sites
}
