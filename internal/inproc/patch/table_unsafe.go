//go:build linux && amd64 && !race

package patch

import (
	"cmp"
	"encoding/binary"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/inproc/stub"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// word is an armed word with its sites.
type word struct {
	armed *uint32
	sites []site
	live  bool // the state to which the sites were last patched
	first bool // their state in the file
}

// site is one place of the program's text.
type site struct {
	at      uintptr
	off, on code

	operand  [4]byte // the bytes after it in the instruction
	prefixed bool    // the instruction begins before it
}

// readTable returns the words of the table that link left in the program's file, in the order
// of their addresses.
func readTable() (words []word, flags uint64, err error) {
	table, err := findTable()
	if err != nil {
		return nil, 0, err
	}
	le := binary.LittleEndian
	sites := table[markerabi.SitesHeaderSize:]
	_, _, anchor := stub.Sites()
	text, data := stub.Text(), stub.Data()
	moved := anchor - uintptr(le.Uint64(table[markerabi.OffSitesAnchor:]))
	for ; len(sites) >= markerabi.SiteSize; sites = sites[markerabi.SiteSize:] {
		armed := uintptr(le.Uint64(sites[markerabi.OffSiteWord:])) + moved
		off, on, first := decodeCodes(sites)
		s := site{uintptr(le.Uint64(sites)) + moved, off, on, [4]byte(sites[markerabi.OffSiteOperand:]), sites[markerabi.OffSitePrefix] != 0}
		n := len(words)
		if !text.Holds(s.at-1, 1+unsafe.Sizeof(s.off)+s.operandSize()) || !data.Holds(armed, 4) || armed%4 != 0 || n > 0 && armed < words[n-1].address() {
			return nil, 0, &failure{"its site table is damaged: it names " + hex(s.at) + " and " + hex(armed), nil}
		}
		if n == 0 || armed != words[n-1].address() {
			words = append(words, word{armed: (*uint32)(address(armed))})
		}
		w := &words[len(words)-1]
		w.sites = append(w.sites, s)
		w.first = first == s.on // without looking, for that makes pages resident
		w.live = w.first
	}
	return words, le.Uint64(table[markerabi.OffSitesFlags:]), nil
}

func (w *word) address() uintptr { return uintptr(unsafe.Pointer(w.armed)) }

// address makes a pointer of an address in the program's own data, which never moves.
func address(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// compare orders words by address.
func compare(w word, armed *uint32) int {
	return cmp.Compare(w.address(), uintptr(unsafe.Pointer(armed)))
}
