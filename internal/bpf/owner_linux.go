package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/waymark-trace/waymark/internal/guard"
	"github.com/waymark-trace/waymark/internal/refcount"
	"golang.org/x/sys/unix"
)

// A process that starts as a guard never gets further than this.
func init() { guard.Serve(&owner{}) }

// owner makes links and holds them: in a guard, or in this process where it cannot have one.
// What else a killed tracer would leave behind belongs here, to be taken back by Close.
type owner struct {
	links   []link.Link
	paused  *ebpf.Map // processes that a watch has stopped, nil without one
	keepers []*refcount.Keeper
}

// Do attaches as a request says.
func (o *owner) Do(b []byte, fds []int) []byte {
	r, err := decodeRequest(b, len(fds))
	if err != nil {
		return (&refusal{-1, -1, 0, err}).encode()
	}
	if n := len(r.Watch); n > 0 {
		return o.serveWatch(r.Watch, fds[:n], fds[n]).encode()
	}
	programs, err := programsOf(fds[r.Files:])
	defer closePrograms(programs) // links hold them
	if err != nil {
		return (&refusal{-1, -1, 0, err}).encode()
	}
	return o.attach(r, fds[:r.Files], programs).encode()
}

// Close detaches. When it returns no program runs any more: the kernel waits for those that
// do before it lets go of a link.
func (o *owner) Close() error {
	for _, k := range o.keepers {
		k.Close()
	}
	o.keepers = nil
	err := detach(o.links)
	o.links = nil
	if o.paused != nil {
		wakeAll(o.paused)
		err = errors.Join(err, o.paused.Close())
		o.paused = nil
	}
	return err
}

// attach attaches everything or nothing.
func (o *owner) attach(r *request, files []int, programs []*ebpf.Program) *refusal {
	execs := make([]*link.Executable, len(files))
	var err error
	for i, fd := range files {
		// A path that is this very open file, for as long as it stays open.
		if execs[i], err = link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", fd)); err != nil {
			return &refusal{-1, -1, 0, err}
		}
	}
	counters := r.takeCounters()
	var links []link.Link
	for i := range r.Batches {
		b := &r.Batches[i]
		try := multi
		if r.Mode != Multi {
			try = events
		}
		for _, pid := range orEvery(r.PIDs) {
			made, site, err := try(r.Mode, pid, execs[b.File], programs[b.Program], b.Sites)
			links = append(links, made...)
			if err != nil {
				_ = detach(links)
				return &refusal{i, site, pid, err}
			}
		}
	}
	// The probes are there when the first guard opens.
	if err := o.keep(counters, files, r.PIDs); err != nil {
		_ = detach(links)
		return &refusal{-1, -1, 0, err}
	}
	o.links = append(o.links, links...)
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

// multi makes one link for all sites. With an error it returns the site to blame.
func multi(_ Mode, pid int, ex *link.Executable, prog *ebpf.Program, sites []spot) ([]link.Link, int, error) {
	l, err := multiLink(pid, ex, prog, sites)
	if err != nil {
		return nil, blame(pid, ex, prog, sites), err
	}
	return []link.Link{l}, 0, nil
}

func multiLink(pid int, ex *link.Executable, prog *ebpf.Program, sites []spot) (link.Link, error) {
	o := &link.UprobeMultiOptions{PID: uint32(pid)}
	counted := false
	for _, s := range sites {
		o.Addresses = append(o.Addresses, s.Offset)
		o.RefCtrOffsets = append(o.RefCtrOffsets, s.Counter)
		o.Cookies = append(o.Cookies, s.Cookie)
		counted = counted || s.Counter != 0
	}
	if !counted {
		o.RefCtrOffsets = nil
	}
	return ex.UprobeMulti(nil, prog, o)
}

// blame returns which of the sites it is that the kernel refuses, by halves: it does not say.
func blame(pid int, ex *link.Executable, prog *ebpf.Program, sites []spot) int {
	first := 0
	for len(sites) > 1 {
		half := sites[:len(sites)/2]
		l, err := multiLink(pid, ex, prog, half)
		if err != nil {
			sites = half
			continue
		}
		l.Close()
		sites, first = sites[len(half):], first+len(half)
	}
	return first
}

// events makes one perf event for each site. With an error it returns the site to blame, and
// what it had made.
func events(m Mode, pid int, ex *link.Executable, prog *ebpf.Program, sites []spot) (made []link.Link, site int, err error) {
	for i, s := range sites {
		o := &link.UprobeOptions{Address: s.Offset, RefCtrOffset: s.Counter, PID: pid}
		if m == Events {
			o.Cookie = s.Cookie
		}
		l, err := ex.Uprobe("", prog, o)
		if err != nil {
			return made, i, err
		}
		made = append(made, l)
	}
	return made, 0, nil
}

// programsOf returns the programs that descriptors are of. They stay open without them.
func programsOf(fds []int) (programs []*ebpf.Program, err error) {
	for i, fd := range fds {
		own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return programs, fmt.Errorf("program %d: %w", i, err)
		}
		prog, err := ebpf.NewProgramFromFD(own)
		if err != nil {
			return programs, fmt.Errorf("program %d: %w", i, err)
		}
		programs = append(programs, prog)
	}
	return programs, nil
}

func closePrograms(programs []*ebpf.Program) (err error) {
	for _, p := range programs {
		err = errors.Join(err, p.Close())
	}
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
