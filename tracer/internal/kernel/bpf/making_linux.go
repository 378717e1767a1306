package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// making is a request on its way to being met.
type making struct {
	*request
	links   []ownedLink
	skipped []refusal
}

// maxSkipped is how many sites are left out before it looks as if the fault were not theirs. To find
// one among many takes up to twenty attempts, each of which can wait for the kernel's grace period.
const maxSkipped = 16

// all makes links for every batch in every process.
func (m *making) all(files []int, programs []*ebpf.Program) *refusal {
	execs := make([]*link.Executable, len(files))
	for i, fd := range files {
		var err error
		// A path that is this very open file, for as long as it stays open.
		if execs[i], err = link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", fd)); err != nil {
			return &refusal{-1, -1, 0, err}
		}
	}
	for i := range m.Batches {
		b := &m.Batches[i]
		for _, pid := range orEvery(m.PIDs) {
			at := &attempt{m, i, pid, execs[b.File], programs[b.Program]}
			attach := at.events
			if m.Mode == Multi {
				attach = at.multi
			}
			if refused := attach(); refused != nil {
				return refused
			}
		}
	}
	return nil
}

// orEvery is what the kernel calls every process when there are no pids. One link for each
// process, rather than one for all whose program looks at the process: the kernel then writes
// breakpoints into these processes only, and others that map the file run as before
// (consumer_filter, kernel/events/uprobes.c).
func orEvery(pids []int) []int {
	if len(pids) == 0 {
		return []int{0}
	}
	return pids
}

// left returns which sites of a batch were not skipped.
func (m *making) left(batch int) (sites []int) {
	skipped := map[int]bool{}
	for _, s := range m.skipped {
		skipped[s.site] = skipped[s.site] || s.batch == batch
	}
	for i := range m.Batches[batch].Sites {
		if !skipped[i] {
			sites = append(sites, i)
		}
	}
	return sites
}

// attempt is a batch in a process.
type attempt struct {
	*making
	batch int
	pid   int
	ex    *link.Executable
	prog  *ebpf.Program
}

// skip leaves a site out that the kernel refuses, unless it is not to blame.
func (a *attempt) skip(site int, err error) *refusal {
	r := refusal{a.batch, site, a.pid, err}
	switch {
	case !ofSite(err):
		return &r
	case len(a.skipped) == maxSkipped:
		return &a.skipped[0]
	}
	a.skipped = append(a.skipped, r)
	return nil
}

// ofSite reports whether an error is about a site rather than about everything: its place or its
// counter (EINVAL), its instruction (ENOTSUPP, ENOEXEC), the page it is in (EIO). See uprobe_register and
// prepare_uprobe, kernel/events/uprobes.c.
func ofSite(err error) bool {
	const enotsupp = unix.Errno(524) // which is the kernel's own
	return errors.Is(err, unix.EINVAL) || errors.Is(err, enotsupp) || errors.Is(err, unix.ENOEXEC) || errors.Is(err, unix.EIO)
}

// multi makes one link for all sites.
func (a *attempt) multi() *refusal {
	sites := a.left(a.batch)
	if len(sites) == 0 {
		return nil
	}
	l, err := a.multiLink(sites)
	if err != nil && ofSite(err) {
		if refused := a.blame(sites, err); refused != nil {
			return refused
		}
		if sites = a.left(a.batch); len(sites) == 0 {
			return nil
		}
		l, err = a.multiLink(sites)
	}
	if err != nil {
		return &refusal{a.batch, sites[0], a.pid, err}
	}
	a.links = append(a.links, ownedLink{l, a.pid})
	return nil
}

func (a *attempt) multiLink(sites []int) (link.Link, error) {
	o := &link.UprobeMultiOptions{PID: uint32(a.pid)}
	counted := false
	for _, i := range sites {
		s := a.Batches[a.batch].Sites[i]
		o.Addresses = append(o.Addresses, s.Offset)
		o.RefCtrOffsets = append(o.RefCtrOffsets, s.Counter)
		o.Cookies = append(o.Cookies, s.Cookie)
		counted = counted || s.Counter != 0
	}
	if !counted {
		o.RefCtrOffsets = nil
	}
	return a.ex.UprobeMulti(nil, a.prog, o)
}

// blame skips those of refused sites that the kernel refuses, by halves: it does not say which.
func (a *attempt) blame(sites []int, err error) *refusal {
	if len(sites) == 1 {
		return a.skip(sites[0], err)
	}
	for _, half := range [][]int{sites[:len(sites)/2], sites[len(sites)/2:]} {
		l, err := a.multiLink(half)
		if err == nil {
			l.Close()
			continue
		}
		if refused := a.blame(half, err); refused != nil {
			return refused
		}
	}
	return nil
}

// events makes one perf event for each site.
func (a *attempt) events() *refusal {
	for _, i := range a.left(a.batch) {
		s := a.Batches[a.batch].Sites[i]
		o := &link.UprobeOptions{Address: s.Offset, RefCtrOffset: s.Counter, PID: a.pid}
		if a.Mode == Events {
			o.Cookie = s.Cookie
		}
		l, err := a.ex.Uprobe("", a.prog, o)
		if err == nil {
			a.links = append(a.links, ownedLink{l, a.pid})
		} else if refused := a.skip(i, err); refused != nil {
			return refused
		}
	}
	return nil
}
