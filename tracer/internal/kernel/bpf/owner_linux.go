package bpf

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/guard"
	"github.com/waymark-trace/waymark/tracer/internal/kernel/seize"
	"golang.org/x/sys/unix"
)

// ServeGuard makes this process a guard, if it was started to be one, and does not return then.
func ServeGuard() { guard.Serve(&owner{guards: true}) }

// owner makes links and holds them: in a guard, or in this process where it cannot have one.
// What else a killed tracer would leave behind belongs here, to be taken back by Close.
type owner struct {
	guards bool // it is in a guard, whose end takes the links away
	links  []ownedLink
	stops  *seize.Tracer // nil before the first is stopped
}

// ownedLink is a link and the process that it is for, 0 for every process.
type ownedLink struct {
	link.Link
	pid int
}

// Do attaches as a request says.
func (o *owner) Do(b []byte, fds []int) []byte {
	r, err := decodeRequest(b, len(fds))
	if err != nil {
		return (&answer{refused: &refusal{-1, -1, 0, err}}).encode()
	}
	switch {
	case r.Detach > 0:
		return o.detach(r.Detach).encode()
	case r.Stop != nil:
		return answerOf(o.stopper().Stop(r.Stop.Process, r.Stop.Thread)).encode()
	case r.Release > 0:
		return answerOf(o.stopper().Release(r.Release)).encode()
	}
	if len(r.Watch) > 0 {
		return (&answer{refused: o.serveWatch(r.Watch, fds)}).encode()
	}
	programs, err := programsOf(fds[r.Files:])
	defer closeAll(programs) // links hold them
	if err != nil {
		return (&answer{refused: &refusal{-1, -1, 0, err}}).encode()
	}
	return o.attach(r, fds[:r.Files], programs).encode()
}

// Close detaches, unless the end of a guard does that. When it returns, or the guard has ended, no program runs any
// more: the kernel waits for those that do before it lets go of a link. What is stopped goes on.
func (o *owner) Close() error {
	var err error
	if !o.guards {
		err = detach(o.links)
		o.links = nil
	}
	if o.stops != nil {
		err = errors.Join(err, o.stops.Close())
	}
	return err
}

// attach attaches to every site that the kernel takes. What it answers is refused is refused as a
// whole: then nothing is attached.
func (o *owner) attach(r *request, files []int, programs []*ebpf.Program) *answer {
	m := &making{request: r}
	refused := m.all(files, programs)
	if refused == nil && len(m.links) == 0 && len(m.skipped) > 0 {
		refused, m.skipped = &m.skipped[0], nil
	}
	if refused != nil {
		_ = detach(m.links)
		return &answer{refused: refused}
	}
	o.links = append(o.links, m.links...)
	return &answer{skipped: m.skipped}
}

func (o *owner) stopper() *seize.Tracer {
	if o.stops == nil {
		o.stops = seize.New()
	}
	return o.stops
}

// answerOf is the answer of a request that has no sites.
func answerOf(err error) *answer {
	if err == nil {
		return &answer{}
	}
	return &answer{refused: &refusal{-1, -1, 0, err}}
}

// detach closes the links of a process. It returns when none of their programs runs any more.
func (o *owner) detach(pid int) *answer {
	var of []ownedLink
	o.links = slices.DeleteFunc(o.links, func(l ownedLink) bool {
		if l.pid == pid {
			of = append(of, l)
		}
		return l.pid == pid
	})
	if err := detach(of); err != nil {
		return &answer{refused: &refusal{-1, -1, pid, err}}
	}
	return &answer{}
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

// detachers is how many links are closed at once. Each waits for the kernel's grace periods,
// tens of milliseconds, which they can share.
const detachers = 64

func detach[L io.Closer](links []L) error {
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

// serveWatch is watch in a guard.
func (o *owner) serveWatch(names []string, fds []int) *refusal {
	programs, err := programsOf(fds)
	defer closeAll(programs) // links hold them
	if err != nil {
		return &refusal{-1, -1, 0, err}
	}
	return o.watch(names, programs)
}

// watch attaches the programs of a watch.
func (o *owner) watch(names []string, programs []*ebpf.Program) *refusal {
	var links []ownedLink
	for i, name := range names {
		l, err := attachWatch(name, programs[i])
		if err != nil {
			_ = detach(links)
			return &refusal{-1, -1, 0, err}
		}
		links = append(links, ownedLink{l, 0})
	}
	o.links = append(o.links, links...)
	return nil
}

// attachWatch attaches a program to a raw tracepoint, or to where it belongs itself.
func attachWatch(name string, program *ebpf.Program) (l link.Link, err error) {
	if name == "" {
		if l, err = link.AttachTracing(link.TracingOptions{Program: program}); err != nil {
			err = fmt.Errorf("attaching to the end of execve: %w", err)
		}
		return l, err
	}
	if l, err = link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: program}); err != nil {
		err = fmt.Errorf("attaching to the kernel's tracepoint %s: %w", name, err)
	}
	return l, err
}
