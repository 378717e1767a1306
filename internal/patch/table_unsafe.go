//go:build linux && amd64 && !race

package patch

import (
	"encoding/binary"
	"errors"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/stub"
)

// word is an armed word with its sites.
type word struct {
	armed *uint32
	sites []site
	live  bool  // what the sites were last patched to
	err   error // why they could not be, reported once
}

// site is one byte of the program's text.
type site struct {
	at      uintptr
	off, on byte
}

// maxTable bounds the table, in bytes: a million sites.
const maxTable = markerabi.SiteSize << 20

// readTable returns the words of the table that link left in the program's file, in the order
// of their addresses.
func readTable() (words []word, flags uint64, err error) {
	offset, size, anchor := stub.Sites()
	if size < markerabi.SitesHeaderSize || size > maxTable {
		return nil, 0, errors.New("site table of " + strconv.FormatUint(size, 10) + " bytes")
	}
	table, err := readSelf(offset, size)
	if err != nil {
		return nil, 0, err
	}
	le := binary.LittleEndian
	sites := table[markerabi.SitesHeaderSize:]
	if le.Uint64(table) != markerabi.SitesMagic || le.Uint64(table[markerabi.OffSitesCount:]) != uint64(len(sites)/markerabi.SiteSize) {
		return nil, 0, errors.New("what should be the site table is not one: the file was changed after it was linked")
	}
	moved := anchor - uintptr(le.Uint64(table[markerabi.OffSitesAnchor:]))
	for ; len(sites) >= markerabi.SiteSize; sites = sites[markerabi.SiteSize:] {
		armed := (*uint32)(address(uintptr(le.Uint64(sites[markerabi.OffSiteWord:])) + moved))
		if n := len(words); n == 0 || words[n-1].armed != armed {
			words = append(words, word{armed: armed})
		}
		s := site{
			at:  uintptr(le.Uint64(sites)) + moved,
			off: sites[markerabi.OffSiteOff],
			on:  sites[markerabi.OffSiteOn],
		}
		w := &words[len(words)-1]
		w.sites = append(w.sites, s)
		w.live = code(s.at) == s.on // as link left it: a key can be on from the start
	}
	return words, le.Uint64(table[markerabi.OffSitesFlags:]), nil
}

// readSelf reads a part of the program's own file, also when that was replaced or deleted.
func readSelf(offset, size uint64) ([]byte, error) {
	fd, err := open("/proc/self/exe", syscall.O_RDONLY)
	if err != nil {
		return nil, errors.New("opening /proc/self/exe: " + err.Error())
	}
	defer syscall.Close(fd)
	data := make([]byte, size)
	for read := 0; read < len(data); {
		n, err := syscall.Pread(fd, data[read:], int64(offset)+int64(read))
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return nil, errors.New("reading the site table at " + strconv.FormatUint(offset, 10) + " of /proc/self/exe: it is cut off")
		}
		read += n
	}
	return data, nil
}

func open(path string, mode int) (int, error) {
	for {
		fd, err := syscall.Open(path, mode|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// address makes a pointer of an address in the program's own data, which never moves.
func address(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

// code returns the byte that the program has at an address of its text.
func code(at uintptr) byte { return *(*byte)(address(at)) }

// compare orders words by address.
func compare(w word, armed *uint32) int {
	a, b := uintptr(unsafe.Pointer(w.armed)), uintptr(unsafe.Pointer(armed))
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
