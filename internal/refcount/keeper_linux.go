package refcount

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/waymark-trace/waymark/internal/procfs"
)

// Keeper keeps counters raised until it is closed.
type Keeper struct {
	files []*File
	pids  []int // nil for every process

	mu        sync.Mutex
	processes map[identity]*process
	passed    map[identity]bool // others that were seen to: nobody becomes a child later
	lineages  map[procfs.Image]*lineage
	lowered   bool // by the scan that runs
	stop      chan struct{}
	stopped   chan struct{}
}

const (
	// interval is how long a mapping that comes later may wait, and load what part of the
	// time goes into looking, one in so many, when there are thousands of processes.
	interval = 10 * time.Millisecond
	load     = 10
)

// Keep raises the counters of files, which it takes over, in some processes or, with none, in
// all. When it fails no counter is raised.
func Keep(files []*File, pids []int) (*Keeper, error) {
	if len(pids) == 0 {
		pids = nil
	}
	k := &Keeper{files: files, pids: pids, processes: map[identity]*process{}, passed: map[identity]bool{},
		lineages: map[procfs.Image]*lineage{}, stop: make(chan struct{}), stopped: make(chan struct{})}
	if err := k.scan(); err != nil {
		k.lower()
		return nil, err
	}
	go k.watch()
	return k, nil
}

func (k *Keeper) watch() {
	defer close(k.stopped)
	wait := interval
	for {
		select {
		case <-k.stop:
			return
		case <-time.After(wait):
		}
		begin := time.Now()
		_ = k.scan() // what fails here is tried again
		wait = max(interval, load*time.Since(begin))
	}
}

// scan looks at every process once.
func (k *Keeper) scan() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	pids, err := procfs.PIDs()
	if err != nil {
		return err
	}
	here := map[identity]bool{}
	for _, pid := range pids {
		id, err := identify(pid)
		if err != nil {
			continue
		}
		here[id] = true
		err = k.look(id)
		if err != nil && k.pids != nil && k.chosen(pid) && !procfs.Gone(err) {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	for id, p := range k.processes {
		if !here[id] {
			k.drop(p)
		}
	}
	for id := range k.passed {
		if !here[id] {
			delete(k.passed, id)
		}
	}
	return nil
}

// Look sees to one process at once, where waiting for the next look at all would be too late.
func (k *Keeper) Look(pid int) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, err := identify(pid)
	if err != nil {
		return err
	}
	return k.look(id)
}

func (k *Keeper) chosen(pid int) bool { return k.pids == nil || slices.Contains(k.pids, pid) }

// look sees to one process.
func (k *Keeper) look(id identity) error {
	p := k.processes[id]
	if p != nil && !p.alive() {
		k.drop(p)
		p = nil
	}
	chosen := k.chosen(id.pid)
	if p == nil {
		if !chosen && k.passed[id] {
			return nil
		}
		var err error
		if p, err = open(id); err != nil {
			return err
		}
		relatives := k.lineages[p.image]
		if !chosen && relatives == nil {
			p.memory.Close()
			k.passed[id] = true
			return nil
		}
		if relatives.shares(id) {
			// vfork: the counters are the parent's, until it executes something.
			p.memory.Close()
			return errShared
		}
		k.processes[id] = p
		relatives.bequeath(p)
	}
	err := k.keep(p, chosen)
	if err == nil && !chosen {
		k.passed[id] = true // once: what others raise there is theirs
	}
	if len(p.raised) == 0 {
		k.drop(p)
	}
	return err
}

var errShared = errors.New("it shares its memory with another process")

func (k *Keeper) drop(p *process) {
	p.memory.Close()
	delete(k.processes, p.identity)
}

// keep raises what is not yet raised in a process that is traced, and lowers what another one
// has inherited.
func (k *Keeper) keep(p *process, chosen bool) error {
	mapped, err := p.mapped(k.files)
	if err != nil {
		return err
	}
	p.forget(mapped)
	for at := range mapped {
		if _, raised := p.raised[at]; raised == chosen {
			continue
		}
		locked := at.file.lock()
		switch {
		case !chosen: // with the lock or without
			err = errors.Join(err, p.lower(at))
			k.lowered = true
		case locked == nil:
			if err = errors.Join(err, p.raise(at)); err == nil {
				k.remember(p, at)
			}
		}
		at.file.unlock()
		err = errors.Join(err, locked)
	}
	return err
}

// Close lowers the counters, save those that somebody else lowered. Processes that have
// ended have none.
func (k *Keeper) Close() {
	close(k.stop)
	<-k.stopped
	k.lower()
}

// lower lowers every counter, also of children that were copied meanwhile: nobody
// inherits from a process whose counters are lowered, so this ends.
func (k *Keeper) lower() {
	k.pids = []int{} // nobody is traced any more
	for range maxGenerations {
		k.lowered = false
		if _ = k.scan(); !k.lowered {
			break
		}
	}
	for _, p := range k.processes {
		k.drop(p)
	}
	for _, f := range k.files {
		f.Close()
	}
}

// maxGenerations bounds how long a process that forks without end is run after.
const maxGenerations = 100
