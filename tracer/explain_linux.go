package tracer

import (
	"errors"
	"fmt"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// explain turns what the kernel said about an attachment into words, and nothing into nothing.
func (p *plan) explain(err error) error {
	if err == nil {
		return nil
	}
	var at *bpf.AttachError
	if !errors.As(err, &at) {
		return p.explainAll(err)
	}
	pr := p.probe(at)
	if pr == nil {
		return p.explainAll(at.Err)
	}
	op := fmt.Sprintf("attaching to %s in %s at %#x", pr.marker.FullName(), pr.marker.File.Path, uint64(pr.marker.Sites[pr.site].Address))
	switch err := at.Err; {
	case at.PID != 0 && procfs.Gone(err):
		return fmt.Errorf("%s: process %d: %w", op, at.PID, ErrNoProcess)
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return model.Permission(op, procfs.Perfmon, err)
	}
	return fmt.Errorf("%s: %w", op, p.refused(at))
}

// probe returns what an error is about, nil when that is not known.
func (p *plan) probe(at *bpf.AttachError) *probe {
	if at.File < 0 || at.File >= len(p.probes) || at.Site < 0 || at.Site >= len(p.probes[at.File]) {
		return nil
	}
	return p.probes[at.File][at.Site]
}

// refused says why the kernel refuses a site.
func (p *plan) refused(at *bpf.AttachError) error {
	pr := p.probe(at)
	switch err := at.Err; {
	case errors.Is(err, unix.EINVAL) && p.conflicts(at):
		return fmt.Errorf("%w: another tracer holds the site %s; end that one first (%w)",
			ErrCounterConflict, otherCounter(&pr.marker.Sites[pr.site]), unix.EINVAL)
	case errors.Is(err, enotsupp):
		return fmt.Errorf("the kernel cannot probe the instruction there: %w", err)
	default:
		return model.NotSupported(err)
	}
}

// conflicts reports whether, as far as we can tell, it is another tracer's reference counter that makes the
// kernel refuse a site as invalid. uprobe_register, kernel/events/uprobes.c, compares counters
// where it has them, and else says so of places behind the file's end and of counters at odd
// offsets.
func (p *plan) conflicts(at *bpf.AttachError) bool {
	site := &p.files[at.File].Sites[at.Site]
	info, err := p.opened[at.File].Stat()
	return err == nil && model.HaveCounters() && site.Offset < uint64(info.Size()) && site.Counter%2 == 0
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
	op := "attaching to " + describe(p.markers)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return model.Permission(op, procfs.BPF, err)
	}
	return fmt.Errorf("%s: %w", op, model.NotSupported(err))
}
