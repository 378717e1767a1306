package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// unit is one program and the sites it serves.
type unit struct {
	name     string
	assemble func(m Mode, cookie *uint64) asm.Instructions
	// sleepable programs may fault the target's memory in. Only Multi has them: it came
	// after sleepable uprobe programs (Linux 6.0), perf events long before.
	sleepable bool
	sites     []placed
}

// placed is a site with its place among the files, and its cookie.
type placed struct {
	file, site int
	cookie     uint64
}

// attachment is everything that keeps probes in place.
type attachment struct {
	links    []link.Link
	programs []*ebpf.Program
}

// attach attaches all units in the first way that the kernel supports.
func attach(files []File, units []unit, o Options) (*attachment, error) {
	// Before Linux 5.11 maps and programs count against RLIMIT_MEMLOCK, and raising it
	// needs CAP_SYS_RESOURCE. Where that fails loading says so.
	_ = rlimit.RemoveMemlock()

	if o.Mode != Auto {
		return attachBy(o.Mode, files, units, o.PID)
	}
	err := error(ebpf.ErrNotSupported)
	if haveMulti() == nil {
		var a *attachment
		if a, err = attachBy(Multi, files, units, o.PID); !errors.Is(err, ebpf.ErrNotSupported) {
			return a, err
		}
	}
	for _, m := range []Mode{Events, EventsPlain} {
		var a *attachment
		if a, err = attachBy(m, files, units, o.PID); !errors.Is(err, ebpf.ErrNotSupported) {
			return a, err
		}
	}
	return nil, err
}

func attachBy(m Mode, files []File, units []unit, pid int) (*attachment, error) {
	a := &attachment{}
	execs := make([]*link.Executable, len(files))
	for i := range files {
		ex, err := link.OpenExecutable(files[i].Path)
		if err != nil {
			return nil, &AttachError{i, -1, err}
		}
		execs[i] = ex
	}
	for i := range units {
		var err error
		if m == Multi {
			err = a.multi(files, execs, &units[i], pid)
		} else {
			err = a.events(m, files, execs, &units[i], pid)
		}
		if err != nil {
			a.Close()
			return nil, err
		}
	}
	return a, nil
}

// multi attaches a unit with one link for each file it has sites in.
func (a *attachment) multi(files []File, execs []*link.Executable, u *unit, pid int) error {
	prog, err := a.load(u, Multi, nil)
	if err != nil {
		return err
	}
	for start := 0; start < len(u.sites); {
		end := start + 1
		for end < len(u.sites) && u.sites[end].file == u.sites[start].file {
			end++
		}
		sites := u.sites[start:end]
		f := sites[0].file
		l, err := multiLink(&files[f], execs[f], prog, sites, pid)
		if err != nil {
			return &AttachError{f, blame(&files[f], execs[f], prog, sites, pid), err}
		}
		a.links = append(a.links, l)
		start = end
	}
	return nil
}

func multiLink(f *File, ex *link.Executable, prog *ebpf.Program, sites []placed, pid int) (link.Link, error) {
	o := &link.UprobeMultiOptions{PID: uint32(pid)}
	counted := false
	for _, s := range sites {
		site := &f.Sites[s.site]
		o.Addresses = append(o.Addresses, site.Offset)
		o.RefCtrOffsets = append(o.RefCtrOffsets, site.Counter)
		o.Cookies = append(o.Cookies, s.cookie)
		counted = counted || site.Counter != 0
	}
	if !counted {
		o.RefCtrOffsets = nil
	}
	return ex.UprobeMulti(nil, prog, o)
}

// blame returns which of the sites it is that the kernel refuses, by halves: it does not say.
func blame(f *File, ex *link.Executable, prog *ebpf.Program, sites []placed, pid int) int {
	for len(sites) > 1 {
		half := sites[:len(sites)/2]
		l, err := multiLink(f, ex, prog, half, pid)
		if err != nil {
			sites = half
			continue
		}
		l.Close()
		sites = sites[len(half):]
	}
	return sites[0].site
}

// events attaches a unit with one perf event for each site.
func (a *attachment) events(m Mode, files []File, execs []*link.Executable, u *unit, pid int) error {
	var prog *ebpf.Program
	for i, s := range u.sites {
		known := (*uint64)(nil)
		if m == EventsPlain {
			known = &s.cookie
		}
		if i == 0 || m == EventsPlain {
			var err error
			if prog, err = a.load(u, m, known); err != nil {
				return err
			}
		}
		site := &files[s.file].Sites[s.site]
		o := &link.UprobeOptions{Address: site.Offset, RefCtrOffset: site.Counter, PID: pid}
		if m == Events {
			o.Cookie = s.cookie
		}
		l, err := execs[s.file].Uprobe("", prog, o)
		if err != nil {
			return &AttachError{s.file, s.site, err}
		}
		a.links = append(a.links, l)
	}
	return nil
}

func (a *attachment) load(u *unit, m Mode, cookie *uint64) (*ebpf.Program, error) {
	spec := &ebpf.ProgramSpec{
		Name:         u.name,
		Type:         ebpf.Kprobe, // what the kernel calls programs of uprobes, too
		Instructions: u.assemble(m, cookie),
		// Reading the target's memory is reserved to programs that say GPL.
		License: "Dual MIT/GPL",
	}
	if m == Multi {
		spec.AttachType = ebpf.AttachTraceUprobeMulti
		if u.sleepable {
			spec.Flags = unix.BPF_F_SLEEPABLE
		}
	}
	prog, err := ebpf.NewProgram(spec)
	if err != nil {
		return nil, fmt.Errorf("loading eBPF program %s: %w", u.name, err)
	}
	a.programs = append(a.programs, prog)
	return prog, nil
}

// Close detaches. When it returns no program runs any more: the kernel waits for those that
// do before it lets go of a link.
func (a *attachment) Close() error {
	err := detach(a.links)
	for _, p := range a.programs {
		err = errors.Join(err, p.Close())
	}
	a.links, a.programs = nil, nil
	return err
}

// detachers is how many links are closed at once. Each waits for the kernel's grace periods,
// tens of milliseconds, which they can share.
const detachers = 64

func detach(links []link.Link) error {
	slots := make(chan struct{}, detachers)
	errs := make(chan error, len(links))
	for _, l := range links {
		slots <- struct{}{}
		go func() {
			errs <- l.Close()
			<-slots
		}()
	}
	var err error
	for range links {
		err = errors.Join(err, <-errs)
	}
	return err
}
