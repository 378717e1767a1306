package sdt

import (
	"debug/elf"
	"fmt"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
)

// symbolTable holds the addresses of the symbols that operands name, and of no others.
type symbolTable struct {
	wanted  map[string][]Addr // the different addresses of each
	hasFull bool              // the file, or a debug file of its own, has a .symtab
	looked  bool              // for a debug file
	longest int
	none    error // why there is no debug file
	err     error // reading was not possible
}

// resolve turns the symbols that the operands of the sites name into addresses. A name with
// several addresses (static variables of several C files) is refused, because the note does not
// choose one of them (libbpf/usdt issue 13).
func (r *siteReader) resolve(sites []Site) {
	t := symbolTable{wanted: map[string][]Addr{}}
	for i := range sites {
		for _, o := range sites[i].Operands {
			if o.Kind == Memory && o.Symbol != "" && len(o.Symbol) <= maxSymbolName {
				t.wanted[o.Symbol] = nil
				t.longest = max(t.longest, len(o.Symbol))
			}
		}
	}
	if len(t.wanted) > 0 {
		t.load(r.im, r.withDebug)
	}
	for i := range sites {
		for j := range sites[i].Operands {
			o := &sites[i].Operands[j]
			if o.Kind != Memory || o.Symbol == "" {
				continue
			}
			addr, err := t.lookup(o.Symbol)
			switch {
			case err != nil:
				o.fail(err)
			case o.Base == PC:
				o.Disp += int64(addr - sites[i].Address)
			case r.im.Type == elf.ET_EXEC: // sym(,%rax,8) is absolute
				o.Disp += int64(addr)
			default:
				o.fail(fmt.Errorf("the absolute address of %s in a file without a fixed one", clip(o.Symbol)))
			}
		}
	}
}

// distrust returns why a debug file that was found is not used, "" for none.
func (t *symbolTable) distrust() string {
	if text, ok := strings.CutPrefix(t.none.Error(), elffile.ErrNoDebug.Error()); ok {
		return text
	}
	return ""
}

func (t *symbolTable) lookup(name string) (Addr, error) {
	addrs := t.wanted[name]
	switch {
	case len(addrs) == 1:
		return addrs[0], nil
	case len(name) > maxSymbolName:
		return 0, fmt.Errorf("a symbol name of %d bytes: more than %d", len(name), maxSymbolName)
	case t.err != nil:
		return 0, t.err
	case len(addrs) == maxSameName:
		return 0, fmt.Errorf("symbol %s is defined at %d addresses or more", clip(name), len(addrs))
	case len(addrs) > 1:
		return 0, fmt.Errorf("symbol %s is defined at %d addresses", clip(name), len(addrs))
	case strings.HasPrefix(name, ".L"):
		// As for a floating-point constant in memory: gcc's .LC1, clang's .LCPI0_0.
		return 0, fmt.Errorf("%s is a label of the compiler's, which no symbol table has", clip(name))
	case !t.hasFull && t.looked:
		return 0, fmt.Errorf("no symbol %s: the file is stripped, and its debug file was not found%s", clip(name), t.distrust())
	case !t.hasFull:
		return 0, fmt.Errorf("no symbol %s: the file is stripped", clip(name))
	}
	return 0, fmt.Errorf("no symbol %s", clip(name))
}
