package bpf

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// serveWatch is watch in a guard.
func (o *owner) serveWatch(names []string, programs []int, paused int) *refusal {
	progs, err := programsOf(programs)
	defer closePrograms(progs) // links hold them
	if err != nil {
		return &refusal{-1, -1, 0, err}
	}
	own, err := unix.FcntlInt(uintptr(paused), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return &refusal{-1, -1, 0, err}
	}
	m, err := ebpf.NewMapFromFD(own)
	if err != nil {
		return &refusal{-1, -1, 0, fmt.Errorf("map of stopped processes: %w", err)}
	}
	defer m.Close()
	return o.watch(names, progs, m)
}

// watch attaches the programs of a watch, and takes it upon itself to continue, in the end,
// the processes that it has stopped.
func (o *owner) watch(names []string, programs []*ebpf.Program, paused *ebpf.Map) *refusal {
	own, err := paused.Clone()
	if err != nil {
		return &refusal{-1, -1, 0, err}
	}
	var links []link.Link
	for i, name := range names {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: name, Program: programs[i]})
		if err != nil {
			_, _ = detach(links), own.Close()
			return &refusal{-1, -1, 0, fmt.Errorf("attaching to the kernel's tracepoint %s: %w", name, err)}
		}
		links = append(links, l)
	}
	o.links, o.paused = append(o.links, links...), own
	return nil
}
