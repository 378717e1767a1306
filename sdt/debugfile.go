package sdt

import (
	"bytes"
	"debug/elf"
	"errors"
	"hash/crc32"
	"io"
	"path/filepath"
	"strings"
)

// debugRoot is where distributions install separate debug files.
var debugRoot = "/usr/lib/debug"

var errOtherDebugFile = errors.New("not the debug file of this file")

// withDebugFile calls read with the file's separate debug file; found is false when there is none.
// It is looked for where gdb does (GDB manual, "Debugging Information in Separate Files"), and must
// have the file's build id, or the checksum in the section that names it when there is no id.
func (im *image) withDebugFile(read func(*image) error) (found bool, err error) {
	id := im.buildID()
	link, sum := im.debugLink()
	for _, path := range debugPaths(im.path, id, link) {
		err = withFile(path, func(r io.ReaderAt) error {
			debug, err := openImage(r)
			if err != nil {
				return err
			}
			if _, full := debug.firstOf(elf.SHT_SYMTAB); !full || debug.class != im.class {
				return errOtherDebugFile
			}
			if id != "" && debug.buildID() != id || id == "" && !hasChecksum(r, sum) {
				return errOtherDebugFile
			}
			found = true
			return read(debug)
		})
		if found {
			return true, err
		}
	}
	return false, nil // others' files, or none
}

// debugPaths are where the debug file can be of a file with a build id, and with a debug link.
func debugPaths(path, id, link string) []string {
	var paths []string
	if len(id) > 2 {
		paths = append(paths, filepath.Join(debugRoot, ".build-id", id[:2], id[2:]+".debug"))
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if link == "" || err != nil {
		return paths
	}
	return append(paths, filepath.Join(dir, link), filepath.Join(dir, ".debug", link), filepath.Join(debugRoot, dir, link))
}

// debugLink returns the name of the debug file and its checksum, as objcopy --add-gnu-debuglink
// writes them: the name ended by a zero, padded to four bytes, and a CRC-32. Names only: the
// file shall not send us to other directories.
func (im *image) debugLink() (name string, sum uint32) {
	for i := uint32(0); ; i++ {
		s, ok := im.section(i)
		if !ok {
			return "", 0
		}
		if !im.hasName(s, ".gnu_debuglink") {
			continue
		}
		data, err := im.sectionData(s, maxDebugLink)
		end := bytes.IndexByte(data, 0)
		at := (end + 4) &^ 3
		if err != nil || end < 1 || at+4 > len(data) {
			return "", 0
		}
		if name = string(data[:end]); name == "." || name == ".." || strings.ContainsRune(name, '/') {
			return "", 0
		}
		return name, im.order.Uint32(data[at:])
	}
}

func hasChecksum(r io.ReaderAt, sum uint32) bool {
	h := crc32.NewIEEE()
	n, err := io.Copy(h, io.NewSectionReader(r, 0, maxDebugBytes))
	return err == nil && n < maxDebugBytes && h.Sum32() == sum
}
