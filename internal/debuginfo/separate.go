package debuginfo

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// debugRoot is where distributions install separate debug files.
var debugRoot = "/usr/lib/debug"

// separate opens the file's debug file. It is looked for where gdb does (GDB manual, "Debugging
// Information in Separate Files"), also in the file system of the process that path goes through,
// and must have the file's build id, or the checksum that goes with its name where there is no id.
func (f *File) separate(path string) error {
	id := buildID(f.program)
	link, sum := debugLink(f.program)
	for _, p := range debugPaths(path, id, link) {
		r, err := openRegular(p)
		if err != nil {
			continue
		}
		d, err := elf.NewFile(r)
		if err == nil && hasInfo(d) && d.Machine == f.Machine && (id != "" && buildID(d) == id || id == "" && hasChecksum(r, sum)) {
			f.debug, f.From, f.opened[d] = d, p, r
			f.closers = append(f.closers, r)
			return nil
		}
		r.Close()
	}
	return ErrNone
}

var processRoot = regexp.MustCompile(`^/proc/[0-9]+/root/`)

// debugPaths are where the debug file can be of a file with a build id, and with a debug link.
func debugPaths(path, id, link string) []string {
	var paths []string
	roots := []string{debugRoot}
	if root := processRoot.FindString(path); root != "" {
		roots = []string{filepath.Join(root, debugRoot), debugRoot}
		path = path[len(root)-1:]
		if link != "" {
			dir := filepath.Dir(path)
			paths = append(paths, filepath.Join(root, dir, link), filepath.Join(root, dir, ".debug", link))
		}
	}
	for _, root := range roots {
		if len(id) > 2 {
			paths = append(paths, filepath.Join(root, ".build-id", id[:2], id[2:]+".debug"))
		}
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if link == "" || err != nil {
		return paths
	}
	for _, root := range roots {
		paths = append(paths, filepath.Join(root, dir, link))
	}
	return append(paths, filepath.Join(dir, link), filepath.Join(dir, ".debug", link))
}

const (
	maxNote = 1 << 10
	maxLink = 4 << 10
	maxFile = 8 << 30 // of a file whose checksum is computed
)

// buildID returns the GNU build id in hexadecimal, "" for none.
func buildID(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil || s.Type != elf.SHT_NOTE || s.Size > maxNote {
		return ""
	}
	data, err := s.Data()
	if err != nil || len(data) < 16 {
		return ""
	}
	name, size := f.ByteOrder.Uint32(data), f.ByteOrder.Uint32(data[4:])
	if name != 4 || uint64(size) > uint64(len(data)-16) {
		return ""
	}
	return hex.EncodeToString(data[16 : 16+size])
}

// debugLink returns the name of the debug file and its checksum: the name ended by a zero, padded
// to four bytes, and a CRC-32. Names only: the file shall not send us to other directories.
func debugLink(f *elf.File) (name string, sum uint32) {
	s := f.Section(".gnu_debuglink")
	if s == nil || s.Size > maxLink {
		return "", 0
	}
	data, err := s.Data()
	end := bytes.IndexByte(data, 0)
	at := (end + 4) &^ 3
	if err != nil || end < 1 || at+4 > len(data) {
		return "", 0
	}
	if name = string(data[:end]); name == "." || name == ".." || strings.ContainsRune(name, '/') {
		return "", 0
	}
	return name, f.ByteOrder.Uint32(data[at:])
}

func hasChecksum(r *os.File, sum uint32) bool {
	h := crc32.NewIEEE()
	n, err := io.Copy(h, io.NewSectionReader(r, 0, maxFile))
	return err == nil && n < maxFile && h.Sum32() == sum
}

// oldSize and oldData read a section as GNU tools compressed it before ELF knew compressed
// sections: "ZLIB", the size with the highest byte first, and the data.
func oldSize(s *elf.Section) (uint64, error) {
	var head [12]byte
	if _, err := s.ReadAt(head[:], 0); err != nil || string(head[:4]) != "ZLIB" {
		return 0, errors.New("its head is not that of a compressed section")
	}
	return binary.BigEndian.Uint64(head[4:]), nil
}

func oldReader(s *elf.Section) (io.Reader, error) {
	return zlib.NewReader(io.NewSectionReader(s, 12, int64(min(s.FileSize, maxDebug))-12))
}
