package tracer

import (
	"fmt"
	"os"
	"slices"

	"github.com/waymark-trace/waymark/internal/bpf"
	"github.com/waymark-trace/waymark/tracer/internal/model"
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
			err := model.CheckRedZone(m, s, p.opened[f])
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
			p.files[f].Sites = append(p.files[f].Sites, bpf.Site{
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
func (p *plan) each(do func(*bpf.Site, *probe)) {
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
