// Package debugfile knows where the separate debug file of an ELF file can be, and whether a file
// is that one: as gdb does (GDB manual, "Debugging Information in Separate Files").
package debugfile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"path/filepath"
	"regexp"
	"strings"
)

// Root is where distributions install separate debug files. Only tests set it.
var Root = "/usr/lib/debug"

// MaxLink is how large the section .gnu_debuglink is at most, in bytes.
const MaxLink = 4 << 10

// maxFile bounds a file whose checksum is computed, in bytes.
const maxFile = 8 << 30

var processRoot = regexp.MustCompile(`^/proc/[0-9]+/root/`)

// Paths returns where the debug file can be of the file at path, which has a build id in
// hexadecimal and a debug link, each "" for none. A path through the root of a process is looked
// for in that process's file system, and for its build id in ours as well.
func Paths(path, id, link string) []string {
	var paths []string
	root := strings.TrimSuffix(processRoot.FindString(path), "/")
	roots := []string{Root}
	if root != "" {
		roots = []string{root + Root, Root}
	}
	if len(id) > 2 {
		for _, r := range roots {
			paths = append(paths, filepath.Join(r, ".build-id", id[:2], id[2:]+".debug"))
		}
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if link == "" || err != nil {
		return paths
	}
	paths = append(paths, filepath.Join(dir, link), filepath.Join(dir, ".debug", link))
	for _, r := range roots {
		paths = append(paths, filepath.Join(r, strings.TrimPrefix(dir, root), link))
	}
	return paths
}

// Link returns what the bytes of .gnu_debuglink say, as objcopy --add-gnu-debuglink writes them: the
// name of the debug file ended by a zero, padded to four bytes, and a CRC-32. "" is none. Names only:
// the file shall not send us to other directories.
func Link(section []byte, order binary.ByteOrder) (name string, sum uint32) {
	end := bytes.IndexByte(section, 0)
	at := (end + 4) &^ 3
	if end < 1 || at+4 > len(section) {
		return "", 0
	}
	if name = string(section[:end]); name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return "", 0
	}
	return name, order.Uint32(section[at:])
}

// HasSum reports whether a file has the checksum of a debug link. It reads all of the file.
func HasSum(r io.ReaderAt, sum uint32) bool {
	h := crc32.NewIEEE()
	n, err := io.Copy(h, io.NewSectionReader(r, 0, maxFile))
	return err == nil && n < maxFile && h.Sum32() == sum
}
