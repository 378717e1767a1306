package bpf

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/guard"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/prog"
	"golang.org/x/sys/unix"
)

// File is an executable or library and the sites in it.
type File struct {
	// Opened stays so until everything is attached: the kernel then has the inode.
	Opened *os.File
	Sites  []prog.Site
	// Linker are where a dynamic linker passes when it has mapped something, for Watch.
	Linker []uint64
}

// Options are how to attach.
type Options struct {
	// Watch follows processes, nil for none. It has to be closed after what is attached.
	Watch      *Watch
	Mode       Mode
	MaxString  int  // bytes of a string that events carry
	BufferSize int  // bytes of the ring
	OwnPIDs    bool // that events have, where the kernel describes its types
	Unguarded  bool // this process holds the links, for tests
	// Window is how long events wait for earlier ones of other CPUs.
	Window time.Duration
}

// Mode is a way of attaching. Users leave it to Auto; tests force the others.
type Mode uint8

const (
	// Auto is the first of the following that the kernel supports.
	Auto Mode = iota
	// Multi is one link for all sites of a file that share a program (Linux 6.6).
	Multi
	// Events is one perf event for each site, with cookies (Linux 5.15).
	Events
	// EventsPlain is one perf event and one program for each site.
	EventsPlain
)

var modeNames = [...]string{"auto", "multi", "events", "events-plain"}

func (m Mode) String() string { return modeNames[m] }

// AttachError names the site that could not be attached to.
type AttachError struct {
	File int // index in the files given, -1 when it is not known which
	Site int // index in the file's sites, -1 when it is not known which, or none of these
	PID  int // of those given, 0 when it is not one process's fault
	Err  error
}

func (e *AttachError) Error() string {
	if e.File < 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("file %d, site %d: %v", e.File, e.Site, e.Err)
}

func (e *AttachError) Unwrap() error { return e.Err }

// unit is one program and the sites it serves.
type unit struct {
	name     string
	assemble func(prog.Means) asm.Instructions
	// sleepable programs may fault the target's memory in. Only Multi has them: it came
	// after sleepable uprobe programs (Linux 6.0), perf events long before.
	sleepable bool
	sites     []placed
}

// placed is a spot with its place among the files.
type placed struct {
	file, site int // site is -1 for one that is not of Sites
	spot
}

// place returns what attaching to a site takes.
func place(files []File, file, site int, cookie uint64) placed {
	s := &files[file].Sites[site]
	return placed{file, site, spot{s.Offset, s.Counter, cookie}}
}

// attachment is everything that keeps probes in place.
type attachment struct {
	guard    *guard.Guard // nil where owner holds the links
	owner    owner
	programs []*ebpf.Program
	mode     Mode // Auto before the first
}

// unitsOf groups sites by what their programs depend on, each group with a program of its own.
func unitsOf(files []File, name string, assemble func(*prog.Site, prog.Means) asm.Instructions) (units []unit) {
	known := map[string]int{}
	for i := range files {
		for j := range files[i].Sites {
			s := &files[i].Sites[j]
			u, ok := known[s.Same()]
			if !ok {
				u = len(units)
				known[s.Same()] = u
				units = append(units, unit{name: name, sleepable: s.MayFault(), assemble: func(m prog.Means) asm.Instructions { return assemble(s, m) }})
			}
			units[u].sites = append(units[u].sites, place(files, i, j, uint64(s.Index)))
		}
	}
	return units
}

// attach makes an attachment to nothing yet, save what keeps the set of processes.
func attach(o Options) (*attachment, error) {
	a := &attachment{}
	if !o.Unguarded {
		// Without a guard everything still works, and only SIGKILL in the milliseconds of
		// attaching and detaching does harm: no reason to refuse.
		a.guard, _ = guard.Start()
	}
	if err := a.watch(o.Watch); err != nil {
		_ = a.Close() // nothing is attached
		return nil, err
	}
	return a, nil
}

// add attaches all units, in some processes or, with none, in all, in the first way that the
// kernel supports. With an error nothing is attached; otherwise everything, but for the sites that the
// kernel refuses, which are skipped.
func (a *attachment) add(files []File, units []unit, pids []int, o Options) (skipped []*AttachError, err error) {
	var modes []Mode
	switch {
	case a.mode != Auto:
		modes = []Mode{a.mode}
	case o.Mode != Auto:
		modes = []Mode{o.Mode}
	default:
		modes = ways()
	}
	if o.Watch != nil {
		units = append(units, o.Watch.linkers(files)...)
	}
	for _, m := range modes {
		if skipped, err = a.by(m, files, units, pids); err == nil {
			a.mode = m
		}
		if !errors.Is(err, ebpf.ErrNotSupported) {
			break
		}
	}
	return skipped, err
}

// by attaches in one way.
func (a *attachment) by(m Mode, files []File, units []unit, pids []int) ([]*AttachError, error) {
	r := &request{Mode: m, PIDs: pids, Files: len(files)}
	var programs []*ebpf.Program
	var at [][]placed // the sites of each batch
	for i := range units {
		u := &units[i]
		for start := 0; start < len(u.sites); {
			end := start + 1
			for m != EventsPlain && end < len(u.sites) && u.sites[end].file == u.sites[start].file {
				end++
			}
			sites := u.sites[start:end]
			if start == 0 || m == EventsPlain {
				p, err := u.load(m, sites[0].Cookie)
				if err != nil {
					_ = closeAll(programs)
					return nil, err
				}
				programs = append(programs, p)
			}
			b := batch{File: sites[0].file, Program: len(programs) - 1}
			for _, s := range sites {
				b.Sites = append(b.Sites, s.spot)
			}
			r.Batches, at = append(r.Batches, b), append(at, sites)
			start = end
		}
	}
	got, err := a.send(r, files, programs)
	if err == nil && got.refused != nil {
		err = blamed(at, got.refused)
	}
	if err != nil {
		_ = closeAll(programs)
		return nil, err
	}
	a.programs = append(a.programs, programs...)
	var skipped []*AttachError
	for i := range got.skipped {
		skipped = append(skipped, blamed(at, &got.skipped[i]))
	}
	return skipped, nil
}

// blamed returns the error of a refusal, at its place among the files. at has the sites of each batch.
func blamed(at [][]placed, r *refusal) *AttachError {
	if i, j := r.batch, r.site; i >= 0 && i < len(at) && j >= 0 && j < len(at[i]) {
		return &AttachError{at[i][j].file, at[i][j].site, r.pid, r.err}
	}
	return &AttachError{-1, -1, r.pid, r.err}
}

// send has a request met by the process that holds the links.
func (a *attachment) send(r *request, files []File, programs []*ebpf.Program) (*answer, error) {
	fds := make([]int, 0, len(files)+len(programs))
	for i := range files {
		fds = append(fds, int(files[i].Opened.Fd()))
	}
	if a.guard == nil {
		return a.owner.attach(r, fds, programs), nil
	}
	for _, p := range programs {
		fds = append(fds, p.FD())
	}
	return a.ask(r, fds)
}

// detachProcess closes the links that are for one process.
func (a *attachment) detachProcess(pid int) error {
	if a.guard == nil {
		return a.owner.detach(pid).refused.asError()
	}
	got, err := a.ask(&request{Detach: pid}, nil)
	if err == nil {
		err = got.refused.asError()
	}
	return err
}

// ask has the guard meet a request.
func (a *attachment) ask(r *request, fds []int) (*answer, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	b, err = a.guard.Do(b, fds)
	if err != nil {
		return nil, err
	}
	return decodeAnswer(b), nil
}

// watch attaches what keeps the set of processes, before anything looks at it.
func (a *attachment) watch(w *Watch) error {
	if w == nil {
		return nil
	}
	programs, names, err := w.watchPrograms()
	defer func() { _ = closeAll(programs) }() // links hold them
	if err != nil {
		return err
	}
	if a.guard == nil {
		return a.owner.watch(names, programs).asError()
	}
	var fds []int
	for _, p := range programs {
		fds = append(fds, p.FD())
	}
	got, err := a.ask(&request{Watch: names}, fds)
	if err == nil {
		err = got.refused.asError()
	}
	return err
}

// load loads the unit's program. The cookie is put into it where the kernel keeps none.
func (u *unit) load(m Mode, cookie uint64) (*ebpf.Program, error) {
	means := prog.Means{Sleepable: m == Multi, Exchange: m != EventsPlain}
	if m == EventsPlain {
		means.Cookie = &cookie
	}
	spec := &ebpf.ProgramSpec{
		Name:         u.name,
		Type:         ebpf.Kprobe, // what the kernel calls programs of uprobes, too
		Instructions: u.assemble(means),
		// Reading the target's memory is reserved to programs that say GPL.
		License: "Dual MIT/GPL",
	}
	if m == Multi {
		spec.AttachType = ebpf.AttachTraceUprobeMulti
		if u.sleepable {
			spec.Flags = unix.BPF_F_SLEEPABLE
		}
	}
	p, err := ebpf.NewProgram(spec)
	if err != nil {
		return nil, fmt.Errorf("loading eBPF program %s: %w", u.name, err)
	}
	return p, nil
}

// ended is closed when the guard has ended, and nil without one.
func (a *attachment) ended() <-chan struct{} {
	if a.guard == nil {
		return nil
	}
	return a.guard.Ended()
}

// Err returns why the probes are gone without a call of Close, nil while they are not.
func (a *attachment) Err() error {
	if a.guard == nil {
		return nil
	}
	return a.guard.Err()
}

// Close detaches and returns when no program runs any more.
func (a *attachment) Close() error {
	err := a.owner.Close()
	if a.guard != nil {
		err = errors.Join(err, a.guard.Close())
	}
	err = errors.Join(err, closeAll(a.programs))
	a.programs = nil
	return err
}
