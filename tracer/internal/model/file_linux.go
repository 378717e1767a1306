package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/internal/schema"
	"github.com/waymark-trace/waymark/sdt"
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

// readMarkers reads the markers of an open file. shown is its path for people; outline is as in
// Target.
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
