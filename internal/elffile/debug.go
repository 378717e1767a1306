package elffile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// DebugRoot is the directory where distributions install separate debug files. Only tests set it.
var DebugRoot = "/usr/lib/debug"

// MaxDebugLink bounds the section .gnu_debuglink, in bytes.
const MaxDebugLink = 4 << 10

// ErrNoDebug is wrapped by Debug's error for a file without a debug file.
var ErrNoDebug = errors.New("no debug file of it was found")

// search is the state of the search for a file's debug files. It keeps the files found so far.
type search struct {
	started bool
	id      string // the build id of the file
	sum     uint32
	owner   owner
	paths   []string // not tried yet
	found   []*Image
	refused error // why a debug file is not trusted, nil if all are
}

func (s *search) close() error {
	var errs []error
	for _, im := range s.found {
		errs = append(errs, im.Close())
	}
	s.found, s.paths = nil, nil
	return errors.Join(errs...)
}

// Debug returns the first separate debug file that accept accepts. It searches DebugRoot by build
// id, and the directories of gdb for the name in .gnu_debuglink (GDB manual, "Debugging Information
// in Separate Files"). The debug file is closed with the image.
//
// Debug searches the directory of the real file, not that of a symbolic link to it. The debug file
// must have the same build id, or without one, the checksum in .gnu_debuglink. It must also belong
// to root or to the file's owner, and must not be world-writable. Ids and checksums can be copied,
// so without this rule any user could give a privileged waymark false addresses for another user's
// program. The user who runs waymark has no exemption.
func (im *Image) Debug(accept func(*Image) bool) (*Image, error) {
	if im.path == "" {
		return nil, ErrNoDebug
	}
	s := &im.search
	if !s.started {
		im.startSearch()
	}
	for i := 0; i < len(s.found) || im.searchOn(); i++ {
		if accept(s.found[i]) {
			return s.found[i], nil
		}
	}
	if s.refused != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDebug, s.refused)
	}
	return nil, ErrNoDebug
}

func (im *Image) startSearch() {
	s := &im.search
	s.started, s.id = true, im.BuildID()
	link, sum := im.DebugLink()
	s.sum = sum
	dir, info := im.beside()
	if dir == "" {
		link = ""
	}
	if info != nil {
		s.owner = ownerOf(info)
	}
	s.paths = debugPaths(processRoot(im.path), dir, s.id, link)
}

// searchOn opens the next debug file. It returns false if there are no more.
func (im *Image) searchOn() bool {
	s := &im.search
	for len(s.paths) > 0 {
		path := s.paths[0]
		s.paths = s.paths[1:]
		if debug := im.openDebug(path); debug != nil {
			s.found = append(s.found, debug)
			return true
		}
	}
	return false
}

// openDebug opens the file at path, and returns nil if it is not this file's debug file.
func (im *Image) openDebug(path string) *Image {
	debug, err := Open(path)
	if err != nil {
		return nil
	}
	s := &im.search
	if debug.Class != im.Class || debug.Machine != im.Machine || s.id != "" && debug.BuildID() != s.id {
		debug.Close()
		return nil
	}
	info, err := debug.file.Stat()
	if err == nil {
		err = s.owner.trusts(info)
	}
	if err != nil {
		s.refused = fmt.Errorf("%s is not trusted: %w", path, err)
	}
	if err != nil || s.id == "" && !debug.hasSum(s.sum) {
		debug.Close()
		return nil
	}
	return debug
}

// beside returns the directory of the real file, or "", and the file's information.
func (im *Image) beside() (dir string, info os.FileInfo) {
	var err error
	if im.file != nil {
		info, err = im.file.Stat()
	} else {
		info, err = os.Stat(im.path)
	}
	if err != nil {
		return "", nil
	}
	paths := []string{im.path}
	if im.file != nil {
		if p := pathOf(im.file); p != "" {
			paths = []string{processRoot(im.path) + p, p, im.path}
		}
	}
	if real, err := filepath.EvalSymlinks(im.path); err == nil && processRoot(im.path) == "" {
		paths = append(paths, real) // a link below another root would resolve in ours
	}
	for _, p := range paths {
		if there, err := os.Lstat(p); err == nil && os.SameFile(info, there) {
			if dir, err = filepath.Abs(filepath.Dir(p)); err == nil {
				return dir, info
			}
		}
	}
	return "", info
}

// processRoot returns the prefix "/proc/PID/root" of a path, or "" if it has none.
func processRoot(path string) string {
	rest, ok := strings.CutPrefix(path, "/proc/")
	if !ok {
		return ""
	}
	pid, _, ok := strings.Cut(rest, "/root/")
	if !ok || pid == "" || strings.Trim(pid, "0123456789") != "" {
		return ""
	}
	return "/proc/" + pid + "/root"
}

// debugPaths returns the possible paths of a debug file. The file is in dir, with build id id in
// hexadecimal and debug link link, each "" for none. For a file below the root of a process, they
// are paths in that process's file system, and by build id also in ours.
func debugPaths(root, dir, id, link string) []string {
	var paths []string
	roots := []string{DebugRoot}
	if root != "" {
		roots = []string{root + DebugRoot, DebugRoot}
	}
	if len(id) > 2 {
		for _, r := range roots {
			paths = append(paths, filepath.Join(r, ".build-id", id[:2], id[2:]+".debug"))
		}
	}
	if link == "" {
		return paths
	}
	paths = append(paths, filepath.Join(dir, link), filepath.Join(dir, ".debug", link))
	for _, r := range roots {
		paths = append(paths, filepath.Join(r, strings.TrimPrefix(dir, root), link))
	}
	return paths
}

// DebugLink returns the name and checksum of the file's debug file. The name is "" for none.
func (im *Image) DebugLink() (name string, sum uint32) {
	s := im.Section(".gnu_debuglink")
	if s == nil {
		return "", 0
	}
	data, err := im.Data(s, MaxDebugLink)
	if err != nil {
		return "", 0
	}
	return debugLink(data, im.Order)
}

// debugLink reads .gnu_debuglink as objcopy --add-gnu-debuglink writes it: the name of the debug
// file ended by a zero, padded to four bytes, and a CRC-32. A name with a slash is rejected, so
// that the file cannot lead to other directories.
func debugLink(section []byte, order binary.ByteOrder) (name string, sum uint32) {
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

// hasSum reports whether the file has the checksum of a debug link. It reads the whole file, so it
// reports false for a file over the budget, such as a sparse one.
func (im *Image) hasSum(sum uint32) bool {
	if im.budget.check("the file", im.size) != nil {
		return false
	}
	h := crc32.NewIEEE()
	_, err := io.Copy(h, io.NewSectionReader(im.r, 0, int64(im.size)))
	return err == nil && h.Sum32() == sum
}
