package tracer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/feature"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/sdt"
	"golang.org/x/sys/unix"
)

// plan is everything an attachment needs. Its files stay open until the kernel has them.
type plan struct {
	target Target
	files  []bpf.File
	opened []*os.File
	probes []*probe // by the index of the bpf.Site
	// at finds a probe by file and site of files.
	at [][]*probe
}

// prepare checks the target and opens the markers' files, all of which must still be what
// Find saw. index gives each probe the number that its hits come back with.
func prepare(t Target, markers []*Marker, index func(marker, probe int) int) (*plan, error) {
	p := &plan{target: t}
	if err := p.prepare(markers, index); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *plan) prepare(markers []*Marker, index func(marker, probe int) int) error {
	op := fmt.Sprintf("attaching to %s", describe(markers))
	if err := checkProcess(p.target.PID, markers); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := attachPermission(op); err != nil {
		return err
	}
	files := map[*File]int{}
	for i, m := range markers {
		f, ok := files[m.File]
		if !ok {
			opened, err := m.File.reopen()
			if err != nil {
				return fmt.Errorf("%s: %w", op, err)
			}
			f = len(p.files)
			files[m.File] = f
			p.opened = append(p.opened, opened)
			p.files = append(p.files, bpf.File{Opened: opened})
			p.at = append(p.at, nil)
		}
		for s := range m.Sites {
			shift := stubShift(m, s, p.opened[f])
			pr, err := newProbe(m, s, int64(shift))
			if err != nil {
				return fmt.Errorf("attaching to %s in %s: %w", m.FullName(), m.File.Path, err)
			}
			p.files[f].Sites = append(p.files[f].Sites, bpf.Site{
				Offset:  uint64(m.Sites[s].Offset) + shift,
				Counter: uint64(m.Sites[s].CounterOffset),
				Index:   uint32(index(i, len(p.probes))),
				Plan:    pr.plan,
			})
			p.at[f] = append(p.at[f], pr)
			p.probes = append(p.probes, pr)
		}
	}
	return nil
}

func (p *plan) close() {
	for _, f := range p.opened {
		f.Close()
	}
	p.opened = nil
}

func describe(markers []*Marker) string {
	first := markers[0]
	s := first.FullName() + " in " + first.File.Path
	if n := len(markers) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

// checkProcess reports whether pid, when there is one, is the process Find saw.
func checkProcess(pid int, markers []*Marker) error {
	if pid == 0 {
		return nil
	}
	if pid == os.Getpid() {
		return errors.New("this is the tracing process itself")
	}
	st, err := running(pid)
	if err != nil {
		return err
	}
	for _, m := range markers {
		if start, ok := m.File.starts[pid]; ok && start != st.Start {
			return fmt.Errorf("process %d is another one by now: it %w", pid, ErrChanged)
		}
	}
	return nil
}

// reopen opens the file that Find read.
func (f *File) reopen() (*os.File, error) {
	if f.machine != bpf.Machine(runtime.GOARCH) {
		return nil, fmt.Errorf("%s is for %v, this machine runs %s: %w", f.Path, f.machine, runtime.GOARCH, ErrNotSupported)
	}
	var denied error
	changed := fmt.Errorf("%s %w", f.Path, ErrChanged)
	for _, path := range f.opens {
		opened, id, err := openFile(path)
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
		return nil, permission("opening "+f.Path, procfs.CheckpointRestore, denied)
	}
	return nil, changed
}

// stubShift returns how far behind its location a marker's site is probed: at the second nop
// of a stub of a linked Go program where that is the one this kernel makes fast.
func stubShift(m *Marker, site int, file io.ReaderAt) uint64 {
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

// explain turns what the kernel said about an attachment into words.
func (p *plan) explain(err error) error {
	var at *bpf.AttachError
	if !errors.As(err, &at) || at.File >= len(p.at) {
		return p.explainAll(err)
	}
	if at.Site < 0 || at.Site >= len(p.at[at.File]) {
		return p.explainAll(at.Err)
	}
	pr := p.at[at.File][at.Site]
	site := &pr.marker.Sites[pr.site]
	op := fmt.Sprintf("attaching to %s in %s at %#x", pr.marker.FullName(), pr.marker.File.Path, uint64(site.Address))
	switch err := at.Err; {
	case p.target.PID != 0 && procfs.Gone(err):
		return fmt.Errorf("%s: process %d: %w", op, p.target.PID, ErrNoProcess)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return permission(op, procfs.Perfmon, err)
	case errors.Is(err, unix.EINVAL):
		// uprobe_register in kernel/events/uprobes.c compares ref_ctr_offset.
		return fmt.Errorf("%s: %w: another tracer holds the site %s; end that one first (%w)",
			op, ErrCounterConflict, otherCounter(site), unix.EINVAL)
	case errors.Is(err, enotsupp):
		return fmt.Errorf("%s: the kernel cannot probe the instruction there: %w", op, err)
	default:
		return fmt.Errorf("%s: %w", op, notSupported(err))
	}
}

// otherCounter says how another tracer must hold a site for the kernel to refuse us.
func otherCounter(s *sdt.Site) string {
	if s.CounterOffset == 0 {
		return "with a reference counter, and its note has none that can be raised"
	}
	return fmt.Sprintf("with a counter that is not the note's, at %#x in the file, or with none", uint64(s.CounterOffset))
}

// enotsupp is the kernel's ENOTSUPP, which it lets out where no probe can be placed.
const enotsupp = unix.Errno(524)

func (p *plan) explainAll(err error) error {
	op := "attaching to " + describe([]*Marker{p.probes[0].marker})
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return permission(op, procfs.BPF, err)
	}
	return fmt.Errorf("%s: %w", op, notSupported(err))
}

// notSupported makes the eBPF library's error this package's.
func notSupported(err error) error {
	if errors.Is(err, bpf.ErrNotSupported) {
		return fmt.Errorf("%w: %w", ErrNotSupported, err)
	}
	return err
}
