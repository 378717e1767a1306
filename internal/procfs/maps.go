package procfs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Mapping is one line of /proc/PID/maps.
type Mapping struct {
	Start, End uint64 // addresses in the process
	Executable bool
	Writable   bool
	Private    bool
	Offset     uint64 // in the file, in bytes
	Device     Device
	Inode      uint64 // 0 for memory without a file
	// Path is the file as the process saw it when it mapped it, without the kernel's
	// " (deleted)". It may name nothing, or another file, by now.
	Path    string
	Deleted bool
}

// Device is a device number as maps prints it. On overlayfs and btrfs it is not the one that
// stat reports for the same file.
type Device struct{ Major, Minor uint32 }

// File identifies a mapped file among the mappings of one machine.
type File struct {
	Device Device
	Inode  uint64
}

// File returns the identity of the mapped file.
func (m *Mapping) File() File { return File{m.Device, m.Inode} }

const (
	// maxLine is a page of path, each byte of which the kernel may write as \012, and the numbers.
	maxLine = 4*4096 + 256
	// MaxMappings is more than vm.max_map_count allows by default, 65530, by a factor of 16.
	MaxMappings = 1 << 20
)

// Maps returns the mappings of process pid, in order of address. Kernel threads and zombies have
// none. It fails with fs.ErrPermission for processes of other users without CAP_SYS_PTRACE.
func Maps(pid int) ([]Mapping, error) {
	f, err := open(path(pid, "maps"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ParseMaps(f)
}

// Executables returns the executable mappings of files of process pid, as Maps does. The kernel formats most of
// its time when it prints maps, and most lines are of data, so it is asked for these alone where it can be.
func Executables(pid int) ([]Mapping, error) {
	f, err := open(path(pid, "maps"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := queryExecutables(f)
	if errors.Is(err, errors.ErrUnsupported) {
		return readExecutables(f)
	}
	return all, err
}

// readExecutables is Executables by the text of maps.
func readExecutables(r io.Reader) ([]Mapping, error) {
	all, err := ParseMaps(r)
	return slices.DeleteFunc(all, func(m Mapping) bool { return !m.Executable || m.Inode == 0 }), err
}

// ParseMaps reads the format of /proc/PID/maps, at most MaxMappings lines.
func ParseMaps(r io.Reader) ([]Mapping, error) {
	all := make([]Mapping, 0, 64)
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), maxLine)
	for s.Scan() {
		last := "" // a file is most often mapped several times in a row
		if len(all) > 0 {
			last = all[len(all)-1].Path
		}
		m, err := parseMapping(s.Bytes(), last)
		if err != nil {
			return all, fmt.Errorf("mapping %d: %w", len(all), err)
		}
		if len(all) == MaxMappings {
			return all, fmt.Errorf("more than %d mappings", MaxMappings)
		}
		all = append(all, m)
	}
	if err := s.Err(); err != nil {
		return all, fmt.Errorf("mapping %d: %w", len(all), err)
	}
	return all, nil
}

// deletedSuffix is what the kernel appends to the path of a file that has no name any more.
const deletedSuffix = " (deleted)"

var errMapping = errors.New("not start-end perms offset major:minor inode path")

// parseMapping reads one line after that of a path, as show_map_vma in the kernel's
// fs/proc/task_mmu.c writes it.
func parseMapping(line []byte, last string) (Mapping, error) {
	var m Mapping
	var field [5][]byte
	rest := line
	for i := range field {
		var ok bool
		field[i], rest, ok = bytes.Cut(rest, []byte{' '})
		if !ok && i < len(field)-1 {
			return m, errMapping
		}
	}
	start, end, ok := bytes.Cut(field[0], []byte{'-'})
	major, minor, ok2 := bytes.Cut(field[3], []byte{':'})
	perms := field[1]
	if !ok || !ok2 || len(perms) != 4 {
		return m, errMapping
	}
	var bad bool
	number := func(b []byte, base, bits int) uint64 {
		n, ok := parseNumber(b, uint64(base), bits)
		bad = bad || !ok
		return n
	}
	m.Start, m.End = number(start, 16, 64), number(end, 16, 64)
	m.Offset = number(field[2], 16, 64)
	m.Device = Device{uint32(number(major, 16, 32)), uint32(number(minor, 16, 32))}
	m.Inode = number(field[4], 10, 64)
	if bad || m.End < m.Start {
		return m, errMapping
	}
	m.Writable, m.Executable, m.Private = perms[1] == 'w', perms[2] == 'x', perms[3] == 'p'
	// The kernel pads with blanks in front of the path; a path itself begins with / or [.
	rest = bytes.TrimLeft(rest, " ")
	if string(rest) == last && !bytes.HasSuffix(rest, []byte(deletedSuffix)) {
		m.Path = last
		return m, nil
	}
	name := string(rest)
	// A file may really be named "x (deleted)": only the kernel knows, and map_files shows it.
	name, m.Deleted = strings.CutSuffix(name, deletedSuffix)
	// Newline is the only escaped byte, and a backslash is not: a name with the four
	// characters \012 is indistinguishable from one with a newline.
	m.Path = strings.ReplaceAll(name, `\012`, "\n")
	return m, nil
}

// parseNumber parses an unsigned number of at most bits bits in base 10 or 16. It takes bytes,
// because a process has hundreds of lines of seven numbers, and strconv would need a string for
// each.
func parseNumber(b []byte, base uint64, bits int) (n uint64, ok bool) {
	for _, c := range b {
		digit := uint64(c - '0')
		if c >= 'a' {
			digit = uint64(c-'a') + 10
		}
		if digit >= base || c < '0' || n > (math.MaxUint64-digit)/base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, len(b) > 0 && (bits == 64 || n>>bits == 0)
}

// Address returns where offset of file is in memory, and whether some mapping holds it.
func Address(maps []Mapping, file File, offset uint64) (uint64, bool) {
	for i := range maps {
		m := &maps[i]
		if m.File() == file && m.Offset <= offset && offset-m.Offset < m.End-m.Start {
			return m.Start + (offset - m.Offset), true
		}
	}
	return 0, false
}
