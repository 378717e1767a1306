package tracer

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/waymark-trace/waymark/event"
	"github.com/waymark-trace/waymark/event/source"
	"github.com/waymark-trace/waymark/internal/filter"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/sdt"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"github.com/waymark-trace/waymark/tracer/internal/model"
	"golang.org/x/sys/unix"
)

// plan is everything an attachment needs. Its files stay open until the kernel has them.
type plan struct {
	target  Target
	markers []*Marker
	files   []bpf.File
	opened  []*os.File
	// probes finds a probe by file and site of files.
	probes [][]*probe
	// skipped are the sites that are left out.
	skipped []*SiteError
}

// prepare checks the target and opens the markers' files. One that cannot be opened, or is no
// longer what Find saw, is left out. The index of a site is that of its marker.
func prepare(t Target, markers []*Marker) (*plan, error) {
	p := &plan{target: t, markers: markers}
	if err := p.prepare(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *plan) prepare() error {
	op := fmt.Sprintf("attaching to %s", describe(p.markers))
	for _, pid := range p.target.pids {
		if err := model.CheckProcess(pid, p.markers); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	if err := model.AttachPermission(op); err != nil {
		return err
	}
	counters := model.HaveCounters()
	files := map[*File]int{}
	zones := map[*File]*model.RedZone{}
	defer func() {
		for _, z := range zones {
			z.Close()
		}
	}()
	unreadable := map[*File]error{} // which cost their own markers and no others
	for i, m := range p.markers {
		f, ok := files[m.File]
		if !ok && unreadable[m.File] == nil {
			opened, err := model.Reopen(m.File)
			if err != nil {
				unreadable[m.File] = err
			} else {
				f = len(p.files)
				files[m.File] = f
				zones[m.File] = model.NewRedZone(opened)
				p.opened = append(p.opened, opened)
				p.files = append(p.files, bpf.File{Opened: opened})
				p.probes = append(p.probes, nil)
			}
		}
		if err := unreadable[m.File]; err != nil {
			for s := range m.Sites {
				p.skipped = append(p.skipped, &SiteError{Marker: m, Site: s, Err: err})
			}
			continue
		}
		for s := range m.Sites {
			err := zones[m.File].Check(m, s)
			if !counters && m.Sites[s].CounterOffset != 0 {
				err = model.ErrNoCounters
			}
			if err != nil {
				p.skipped = append(p.skipped, &SiteError{Marker: m, Site: s, Err: err})
				continue
			}
			shift := model.StubShift(m, s, p.opened[f])
			pr, err := newProbe(m, s, int64(shift))
			if err != nil {
				p.skipped = append(p.skipped, &SiteError{Marker: m, Site: s, Err: err})
				continue
			}
			p.files[f].Sites = append(p.files[f].Sites, prog.Site{
				Offset:  uint64(m.Sites[s].Offset) + shift,
				Counter: uint64(m.Sites[s].CounterOffset),
				Index:   uint32(i),
				Plan:    pr.plan,
			})
			p.probes[f] = append(p.probes[f], pr)
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

// link adds the places where dynamic linkers pass. What cannot be opened, or is for another
// kind of process, tells us nothing then.
func (p *plan) link(linkers []*File) {
	for _, f := range linkers {
		opened, err := model.Reopen(f)
		if err != nil {
			continue
		}
		p.opened = append(p.opened, opened)
		p.files = append(p.files, bpf.File{Opened: opened, Linker: model.Linker(f)})
		p.probes = append(p.probes, nil)
	}
}

// hasSites reports whether there is a site that is not left out.
func (p *plan) hasSites() bool {
	return slices.ContainsFunc(p.probes, func(probes []*probe) bool { return len(probes) > 0 })
}

// skip leaves out what the kernel has refused. Of linkers, which are none of ours, nobody hears.
func (p *plan) skip(refused []*bpf.AttachError) {
	for _, at := range refused {
		if pr := p.probe(at); pr != nil {
			p.skipped = append(p.skipped, &SiteError{Marker: pr.marker, Site: pr.site, Err: p.refused(at)})
		}
	}
}

// each calls do for every site, with its probe.
func (p *plan) each(do func(*prog.Site, *probe)) {
	for f := range p.files {
		for s := range p.files[f].Sites {
			do(&p.files[f].Sites[s], p.probes[f][s])
		}
	}
}

func describe(markers []*Marker) string {
	if len(markers) == 0 {
		return "what is to come"
	}
	first := markers[0]
	s := first.FullName() + " in " + first.File.Path
	if n := len(markers) - 1; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return s
}

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

// bindWhere binds a condition to each of the sites. The error is that of the first to which it does not fit.
func (p *plan) bindWhere(where string) error {
	if where == "" {
		return nil
	}
	expr, err := filter.Parse(where)
	if err != nil {
		return model.ConditionError(err)
	}
	p.each(func(s *prog.Site, pr *probe) {
		if s.End { // of a latency, whose begins decide
			return
		}
		s.Where, pr.unbound = pr.where(expr)
		err = cmp.Or(err, pr.unbound)
	})
	return model.ConditionError(err)
}

// skipUnbound leaves out the sites that the condition does not fit, and reports whether there are any.
func (p *plan) skipUnbound() (some bool) {
	for f := range p.files {
		sites, probes := p.files[f].Sites, p.probes[f]
		p.files[f].Sites, p.probes[f] = nil, nil
		for i, pr := range probes {
			if pr.unbound == nil {
				p.files[f].Sites, p.probes[f] = append(p.files[f].Sites, sites[i]), append(p.probes[f], pr)
				continue
			}
			some = true
			p.skipped = append(p.skipped, &SiteError{Marker: pr.marker, Site: pr.site, Err: model.ConditionError(pr.unbound)})
		}
	}
	return some
}

// where binds a condition to the probe's site.
func (p *probe) where(expr *filter.Expr) (*prog.Where, error) {
	w := &prog.Where{}
	f, err := expr.Bind(func(name string) (event.Kind, error) {
		k, v, err := p.variable(name)
		w.Vars = append(w.Vars, v)
		return k, err
	})
	w.Filter = f
	return w, err
}

// variable resolves a name of a condition: a field, argN, or what every event has.
func (p *probe) variable(name string) (event.Kind, prog.Part, error) {
	fields := p.marker.Fields
	i := p.marker.Field(name)
	at := model.Positional(p.marker, name)
	switch {
	case i >= 0 && fields[i].Unavailable != "":
		return 0, prog.Part{}, &filter.Error{Reason: fmt.Sprintf("%s of %s has no value: %v", name, p.marker.FullName(), fields[i].Unavailable)}
	case i >= 0:
		return p.part(i)
	case at > 0 && p.record == nil:
		k, part := p.operandPart(event.Invalid, Argument{Operand: at})
		return k, part, nil
	}
	if n := event.ArgNumber(name); n > 0 && p.record != nil && n <= len(p.record.Fields) {
		return p.part(n - 1)
	}
	if b, ok := builtin[name]; ok {
		f, _ := source.BuiltinField(name)
		return f.Kind, p.builtin(b), nil
	}
	return 0, prog.Part{}, &filter.Error{
		Reason: fmt.Sprintf("%s has no field %s", p.marker.FullName(), name),
		Hint:   p.fieldHint(),
	}
}

func (p *probe) fieldHint() string {
	own := "it has no fields"
	var names []string
	for i := range p.marker.Fields {
		names = append(names, p.marker.Fields[i].Name)
	}
	if len(names) > 0 {
		own = "it has " + strings.Join(names, ", ")
	}
	return own + "; every event has comm, pid, tid, cpu and goroutine"
}
