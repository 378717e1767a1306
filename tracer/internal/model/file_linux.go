package model

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/feature"
	"golang.org/x/sys/unix"
)

// OpenFile opens a regular file without waiting, whatever is at the path by now.
func OpenFile(path string) (*os.File, Identity, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, Identity{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, Identity{}, fmt.Errorf("%s: reading its status: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		f.Close()
		return nil, Identity{}, fmt.Errorf("%s: %w: not a regular file", path, sdt.ErrNotELF)
	}
	return f, identityOf(&st), nil
}

func identityOf(st *unix.Stat_t) Identity {
	return Identity{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano()}
}

// identify returns the identity of the file at a path, or the zero value if there is none.
func identify(path string) Identity {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return Identity{}
	}
	return identityOf(&st)
}

// duplicate returns another descriptor of an open file.
func duplicate(f *os.File) (*os.File, error) {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("duplicating the descriptor of %s: %w", f.Name(), err)
	}
	return os.NewFile(uintptr(fd), f.Name()), nil
}

// mappedPaths returns the ways to open the file behind a mapping, the best first.
func mappedPaths(pid int, m *procfs.Mapping, executable bool) []string {
	proc := "/proc/" + strconv.Itoa(pid)
	// The mapped inode itself, deleted or replaced, whichever mount namespace it is in.
	// Needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
	paths := []string{fmt.Sprintf("%s/map_files/%x-%x", proc, m.Start, m.End)}
	if executable {
		// The same for the program itself, with no more privilege than reading maps takes.
		paths = append(paths, proc+"/exe")
	}
	if !m.Deleted {
		// What has the name now: as the process sees it, and as we do.
		paths = append(paths, proc+"/root"+m.Path, m.Path)
	}
	return paths
}

// OpenMapped opens the file behind a mapping.
func OpenMapped(pid int, m *procfs.Mapping, executable bool) (*os.File, Identity, error) {
	var first error
	for i, path := range mappedPaths(pid, m, executable) {
		f, id, err := OpenFile(path)
		if err == nil && byName(i, executable) && id.Inode != m.Inode {
			// The device cannot be compared: overlayfs and btrfs show another in maps.
			f.Close()
			err = fmt.Errorf("%s: %w", path, ErrChanged)
		}
		if err == nil {
			return f, id, nil
		}
		if first == nil {
			first = err
		}
	}
	if errors.Is(first, os.ErrPermission) {
		return nil, Identity{}, Permission("reading "+m.Path+" (not in the file system any more)",
			procfs.CheckpointRestore, first)
	}
	return nil, Identity{}, first
}

// byName reports whether the i-th of mappedPaths goes by the file's name.
func byName(i int, executable bool) bool {
	if executable {
		return i > 1
	}
	return i > 0
}

// readMarkers reads the markers of an open file. shown is its path for people; with outline, probe locations are left out.
func readMarkers(f *os.File, id Identity, shown string, outline bool) (*File, []*Marker, error) {
	im, err := elffile.FromFile(f, shown)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the markers of %s: %w", shown, err)
	}
	defer im.Close()
	elfFile, err := sdt.ReadWithDebug(im, shown)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the markers of %s: %w", shown, err)
	}
	file := NewFile(&File{Path: shown, BuildID: elfFile.BuildID, Problems: elfFile.Problems, id: id}, elfFile.Machine, -1)
	if mayLink(shown) {
		file.linker = linkerSites(im)
	}
	simple := simpleMarkers(im, file, outline)
	if len(elfFile.Sites) == 0 && len(simple) == 0 {
		return file, nil, nil
	}
	doc, err := readSchema(im)
	if err != nil {
		file.Problems = append(file.Problems, fmt.Errorf("%w: markers are shown without names and types of fields", err))
	}
	table, err := SiteTable(im)
	if err != nil {
		file.Problems = append(file.Problems, fmt.Errorf("reading which sites are optimized: %w", err))
	}
	file.Optimized = max(0, len(table)-markerabi.SitesHeaderSize) / markerabi.SiteSize
	if doc != nil { // the same as the places of simple markers say, if there are any
		file.Go, file.goid = doc.Go, checkGoid(doc.Goid)
	}
	return file, append(MarkersOf(file, elfFile.Sites, doc), simple...), nil
}

func readSchema(im *elffile.Image) (*schema.Document, error) {
	data, err := im.Named(schema.Section, schema.MaxSize)
	if errors.Is(err, elffile.ErrNoSection) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return schema.Decode(data)
}

// maxGoid is well above the offset of goid in any Go version's g, about 150.
const maxGoid = 4096

func checkGoid(offset int) int {
	if offset < 0 || offset > maxGoid {
		return -1
	}
	return offset
}

const maxSiteTable = markerabi.SiteSize << 20

// SiteTable returns the site table of a program, nil when it is not optimized.
func SiteTable(im *elffile.Image) ([]byte, error) {
	table, err := im.Named(markerabi.SitesSection, maxSiteTable)
	switch {
	case errors.Is(err, elffile.ErrNoSection), err == nil && len(table) == 0:
		return nil, nil
	case err != nil:
		return nil, err
	case len(table) < markerabi.SitesHeaderSize || binary.LittleEndian.Uint64(table) != markerabi.SitesMagic:
		return nil, errors.New("section " + markerabi.SitesSection + " is not a site table")
	}
	return table, nil
}

// Reopen opens the file that Find read.
func Reopen(f *File) (*os.File, error) {
	if f.machine != bpf.Machine(runtime.GOARCH) {
		return nil, fmt.Errorf("%s is for %v, this machine runs %s: %w", f.Path, f.machine, runtime.GOARCH, ErrNotSupported)
	}
	return f.open()
}

// open returns a new descriptor of the file that Find read, if the file is still at one of its
// paths. It duplicates the descriptor that Find holds, or else opens the file again.
func (f *File) open() (*os.File, error) {
	var denied error
	changed := fmt.Errorf("%s %w", f.Path, ErrChanged)
	for _, path := range f.opens {
		if f.held != nil && identify(path) == f.id {
			return duplicate(f.held)
		}
		opened, id, err := OpenFile(path)
		switch {
		case err == nil && id == f.id:
			return opened, nil
		case err == nil:
			opened.Close()
		case errors.Is(err, os.ErrPermission):
			denied = err
		}
	}
	if denied != nil {
		return nil, Permission("opening "+f.Path, procfs.CheckpointRestore, denied)
	}
	return nil, changed
}

// StubShift returns how far behind its location a marker's site is probed: at the second nop
// of a stub of a linked Go program where that is the one this kernel makes fast.
func StubShift(m *Marker, site int, file io.ReaderAt) uint64 {
	if site >= len(m.records) || m.records[site] == nil {
		return 0
	}
	if g, err := feature.UprobeGeneration(); err != nil || g != feature.Nop10 {
		return 0
	}
	var code [markerabi.StubSize]byte
	n, _ := file.ReadAt(code[:], int64(m.Sites[site].Offset))
	if !slices.Equal(code[:n], markerabi.Stub[:]) {
		return 0
	}
	return markerabi.StubNop10
}

// NotSupported makes the eBPF library's error this package's.
func NotSupported(err error) error {
	if errors.Is(err, bpf.ErrNotSupported) {
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	}
	return err
}

// maxFunctionName bounds the name of a function, in bytes.
const maxFunctionName = 4096

func (f *File) readFunctions() (all []function) {
	opened, err := f.open()
	if err != nil {
		return nil
	}
	defer opened.Close()
	im, err := elffile.FromFile(opened, "")
	if err != nil {
		return nil
	}
	defer im.Close()
	_ = im.Symbols(elf.SHT_SYMTAB, func(s *elffile.Symbol) {
		if s.Type == elf.STT_FUNC && s.Defined() {
			all = append(all, function{string(s.Name(maxFunctionName)), s.Value, s.Size})
		}
	})
	return all
}

// linkerSymbol is the function that dynamic linkers call after each change of what is mapped,
// for debuggers: r_brk of struct r_debug in link.h. glibc and musl have it under this name. (glibc
// also has SDT markers for that, rtld:map_complete and others; Debian builds it without.)
const linkerSymbol = "_dl_debug_state"

// mayLink reports whether a file may be a dynamic linker: ld-linux-x86-64.so.2, ld-2.31.so,
// ld-musl-x86_64.so.1, ld64.so.2. Others are not searched.
func mayLink(name string) bool { return strings.HasPrefix(path.Base(name), "ld") }

// linkerSites returns the offset of linkerSymbol in a file, when it has one.
func linkerSites(im *elffile.Image) (sites []uint64) {
	_ = im.Symbols(elf.SHT_DYNSYM, func(s *elffile.Symbol) {
		if !s.Defined() || string(s.Name(len(linkerSymbol)+1)) != linkerSymbol || sites != nil {
			return
		}
		if offset, err := im.CodeOffset(s.Value); err == nil {
			sites = []uint64{offset}
		}
	})
	return sites
}
