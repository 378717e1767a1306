package tracer

import (
	"debug/elf"
	"os"
	"path"
	"strings"
)

// linkerSymbol is the function that dynamic linkers call after each change of what is mapped,
// for debuggers: r_brk of struct r_debug in link.h. glibc and musl have it under this name. (glibc
// also has SDT markers for that, rtld:map_complete and others; Debian builds it without.)
const linkerSymbol = "_dl_debug_state"

// mayLink reports whether a file may be a dynamic linker: ld-linux-x86-64.so.2, ld-2.31.so,
// ld-musl-x86_64.so.1, ld64.so.2. Others are not searched.
func mayLink(name string) bool { return strings.HasPrefix(path.Base(name), "ld") }

// maxLinker bounds what is read of a file that calls itself a linker; musl's is its whole C
// library, below 1 MiB.
const maxLinker = 16 << 20

// linkerSites returns the offset of linkerSymbol in a file, when it has one.
func linkerSites(f *os.File) (sites []uint64) {
	defer func() {
		if recover() != nil { // debug/elf is not hardened
			sites = nil
		}
	}()
	if info, err := f.Stat(); err != nil || info.Size() > maxLinker {
		return nil
	}
	file, err := elf.NewFile(f)
	if err != nil {
		return nil
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		return nil
	}
	for _, s := range symbols {
		if s.Name != linkerSymbol || s.Section == elf.SHN_UNDEF {
			continue
		}
		for _, p := range file.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && s.Value >= p.Vaddr && s.Value-p.Vaddr < p.Filesz {
				return []uint64{p.Off + (s.Value - p.Vaddr)}
			}
		}
	}
	return nil
}
