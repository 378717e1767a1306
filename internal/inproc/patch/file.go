//go:build linux && amd64 && !race

package patch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"syscall"

	"github.com/waymark-trace/waymark/internal/inproc/stub"
	"github.com/waymark-trace/waymark/internal/markerabi"
)

// Bounds of reads from the program's file.
const (
	maxTable    = markerabi.SiteSize << 20 // a million sites
	maxSections = 1 << 12
	maxNames    = 1 << 20
)

var errCut = errors.New("it is cut off")

// findTable returns the site table: from where link wrote that it is, and when something has rewritten the
// file since, as strip does, from the section of its name.
func findTable() ([]byte, error) {
	// Also when the file was replaced or deleted.
	fd, err := open("/proc/self/exe", syscall.O_RDONLY)
	if err != nil {
		return nil, &failure{"opening /proc/self/exe, which has its site table (mount /proc, or link it without --optimize)", err}
	}
	defer syscall.Close(fd)
	table, err := file(fd).siteTable()
	if err != nil {
		return nil, &failure{"reading its site table (it was changed after it was linked: link it again)", err}
	}
	return table, nil
}

func (f file) siteTable() ([]byte, error) {
	offset, size, _ := stub.Sites()
	if table, err := f.table(offset, size); err == nil {
		return table, nil
	}
	offset, size, err := f.section(markerabi.SitesSection)
	if err != nil {
		return nil, err
	}
	return f.table(offset, size)
}

func open(path string, mode int) (int, error) {
	for {
		fd, err := syscall.Open(path, mode|syscall.O_CLOEXEC, 0)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}

// file is the program's own, open for reading.
type file int

func (f file) read(offset, size uint64) ([]byte, error) {
	data := make([]byte, size)
	for read := 0; read < len(data); {
		n, err := syscall.Pread(int(f), data[read:], int64(offset)+int64(read))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return nil, errCut
		default:
			read += n
		}
	}
	return data, nil
}

// table returns the bytes there if they are a site table.
func (f file) table(offset, size uint64) ([]byte, error) {
	if size < markerabi.SitesHeaderSize || size > maxTable {
		return nil, errors.New("it is not of a table's size")
	}
	table, err := f.read(offset, size)
	if err != nil {
		return nil, err
	}
	sites := (size - markerabi.SitesHeaderSize) / markerabi.SiteSize
	le := binary.LittleEndian
	if le.Uint64(table) != markerabi.SitesMagic || le.Uint64(table[markerabi.OffSitesCount:]) != sites {
		return nil, errors.New("what lies there is not one")
	}
	return table, nil
}

// section returns where the section of a name lies. (System V ABI, Sections.)
func (f file) section(name string) (offset, size uint64, err error) {
	le := binary.LittleEndian
	header, err := f.read(0, 64)
	if err != nil {
		return 0, 0, err
	}
	const entry = 64
	count, names := uint64(le.Uint16(header[60:])), uint64(le.Uint16(header[62:]))
	if le.Uint16(header[58:]) != entry || count > maxSections || names >= count {
		return 0, 0, errors.New("it has no sections")
	}
	sections, err := f.read(le.Uint64(header[40:]), count*entry)
	if err != nil {
		return 0, 0, err
	}
	size = le.Uint64(sections[names*entry+32:])
	if size > maxNames {
		return 0, 0, errors.New("its sections have no names")
	}
	text, err := f.read(le.Uint64(sections[names*entry+24:]), size)
	if err != nil {
		return 0, 0, err
	}
	for s := sections; len(s) > 0; s = s[entry:] {
		at := uint64(le.Uint32(s))
		if at < size && bytes.HasPrefix(text[at:], []byte(name+"\x00")) {
			return le.Uint64(s[24:]), le.Uint64(s[32:]), nil
		}
	}
	return 0, 0, errors.New("it has no section " + name)
}
