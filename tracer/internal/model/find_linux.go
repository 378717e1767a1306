package model

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/sdt"
	"golang.org/x/sys/unix"
)

func FindPath(path string, outline bool) ([]*Marker, error) {
	f, id, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	file, markers, err := readMarkers(f, id, path, outline)
	if err == nil {
		var absolute string
		absolute, err = filepath.Abs(path)
		file.opens = []string{absolute}
	}
	if err != nil || len(markers) == 0 {
		f.Close()
		if err == nil {
			err = errors.Join(file.Problems...)
		}
		return nil, err
	}
	file.held = f
	return markers, nil
}

func FindPIDs(ctx context.Context, pids []int, outline bool) (markers []*Marker, err error) {
	s := NewScan()
	s.outline, s.hold = outline, true
	var errs []error
	known := map[*File]bool{}
	for _, pid := range pids {
		found, problems, err := s.Files(ctx, pid)
		if err != nil {
			return nil, err
		}
		errs = append(errs, problems...)
		for _, r := range found {
			if !known[r.File] {
				known[r.File] = true
				markers = append(markers, r.Markers...)
			}
		}
	}
	if len(markers) == 0 {
		return nil, errors.Join(errs...)
	}
	// Files without a marker have no File of their own to say it in.
	first := markers[0].File
	first.Problems = append(first.Problems, errs...)
	return markers, nil
}

// Scan reads files once, however many processes map them.
type Scan struct {
	ByID  map[Identity]*Scanned
	ByMap map[procfs.File]*Scanned
	// outline leaves out the probe locations of simple markers.
	outline bool
	// hold keeps the selected files open. A scan of all processes does not set it.
	hold bool
}

// Scanned is a file that was read.
type Scanned struct {
	File    *File // nil when err is not
	Markers []*Marker
	err     error
}

func NewScan() *Scan {
	return &Scan{ByID: map[Identity]*Scanned{}, ByMap: map[procfs.File]*Scanned{}}
}

// Files returns the files of a process that matter, and what was wrong with others; err is
// what kept it from being looked at.
func (s *Scan) Files(ctx context.Context, pid int) (files []*Scanned, errs []error, err error) {
	st, err := Running(pid)
	if err != nil {
		return nil, nil, err
	}
	return s.mapped(ctx, pid, st)
}

// mapped is process for a process with a known state.
func (s *Scan) mapped(ctx context.Context, pid int, st procfs.Stat) (files []*Scanned, errs []error, err error) {
	maps, err := procfs.Executables(pid)
	if err != nil {
		return nil, nil, ProcessError("reading the mappings of", pid, procfs.SysPtrace, err)
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	exe = strings.TrimSuffix(exe, " (deleted)")
	seen := map[procfs.File]bool{}
	for i := range maps {
		m := &maps[i]
		if !strings.HasPrefix(m.Path, "/") || seen[m.File()] {
			continue
		}
		seen[m.File()] = true
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r := s.mapping(pid, m, m.Path == exe)
		if r.err != nil {
			if !procfs.Gone(r.err) && !errors.Is(r.err, sdt.ErrNotELF) {
				errs = append(errs, r.err)
			}
			continue
		}
		if len(r.Markers) == 0 {
			errs = append(errs, r.File.Problems...)
		}
		if len(r.Markers) == 0 && len(r.File.linker) == 0 {
			continue
		}
		// Any process that maps the file is a way to open it; a few outlive one of them.
		if len(r.File.opens) < maxOpens {
			r.File.opens = append(r.File.opens, mappedPaths(pid, m, m.Path == exe)...)
		}
		r.File.seen[pid] = sighting{st.Start, m.File()}
		files = append(files, r)
	}
	return files, errs, nil
}

// maxOpens is how many ways to open one file are remembered.
const maxOpens = 32

// mapping reads the file behind a mapping unless it was read already.
func (s *Scan) mapping(pid int, m *procfs.Mapping, executable bool) *Scanned {
	if r := s.ByMap[m.File()]; r != nil && r.err == nil {
		return r
	}
	f, id, err := OpenMapped(pid, m, executable)
	if err != nil {
		// Another process may give us what this one does not.
		return &Scanned{err: err}
	}
	r := s.ByID[id]
	if r == nil {
		r = &Scanned{}
		r.File, r.Markers, r.err = readMarkers(f, id, m.Path, s.outline)
		s.ByID[id] = r
		if s.hold && r.File != nil && len(r.Markers)+len(r.File.linker) > 0 {
			r.File.held, f = f, nil
		}
	}
	if f != nil {
		f.Close()
	}
	s.ByMap[m.File()] = r
	return r
}

// Running returns the state of a process that can have markers.
func Running(pid int) (procfs.Stat, error) {
	st, err := procfs.ReadStat(pid)
	if err != nil {
		return st, ProcessError("looking at", pid, procfs.SysPtrace, err)
	}
	if st.Kernel {
		return st, fmt.Errorf("process %d is a thread of the kernel: it has no program", pid)
	}
	if st.State == 'Z' || st.State == 'X' {
		return st, fmt.Errorf("process %d has ended: %w", pid, ErrNoProcess)
	}
	return st, nil
}

// ProcessError explains what the kernel said about a process.
func ProcessError(doing string, pid int, needed procfs.Capability, err error) error {
	op := fmt.Sprintf("%s process %d", doing, pid)
	switch {
	case procfs.Gone(err) && !procMounted():
		return fmt.Errorf("%s: %w", op, ErrNoProc)
	case procfs.Gone(err) && hidden(pid):
		return Permission(op+", which /proc hides (hidepid)", procfs.SysPtrace, unix.EPERM)
	case procfs.Gone(err):
		return fmt.Errorf("%s: %w", op, ErrNoProcess)
	case errors.Is(err, os.ErrPermission):
		return Permission(op, needed, err)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// procMounted reports whether there is a /proc at all.
func procMounted() bool {
	_, err := os.Lstat("/proc/self")
	return err == nil
}

// hidden reports whether there is a process that /proc does not show: signals know no hidepid.
func hidden(pid int) bool {
	if _, err := os.Lstat("/proc/" + strconv.Itoa(pid)); pid <= 0 || !errors.Is(err, os.ErrNotExist) {
		return false
	}
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}

func findAll(ctx context.Context) ([]Process, error) {
	pids, err := procfs.PIDs()
	if err != nil {
		return nil, fmt.Errorf("listing processes: %w", err)
	}
	slices.Sort(pids)
	s := NewScan()
	var all []Process
	for _, pid := range pids {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		st, err := Running(pid)
		if err != nil { // a kernel thread, which maps no files, or a process that has ended
			continue
		}
		p := Process{PID: pid}
		var errs []error
		var files []*Scanned
		files, errs, p.Err = s.mapped(ctx, pid, st)
		for _, r := range files {
			p.Markers = append(p.Markers, r.Markers...)
		}
		if errors.Is(p.Err, ErrNoProcess) {
			continue
		}
		p.Err = errors.Join(append(errs, p.Err)...)
		if len(p.Markers) == 0 && p.Err == nil {
			continue
		}
		if p.Comm, err = procfs.Comm(pid); procfs.Gone(err) {
			continue
		}
		p.OwnPID, _ = procfs.OwnPID(pid) // who is gone by now is shown without
		all = append(all, p)
	}
	return all, nil
}
