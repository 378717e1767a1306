package tracer

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/waymark-trace/waymark/internal/elffile"
	"github.com/waymark-trace/waymark/internal/markerabi"
	"github.com/waymark-trace/waymark/internal/procfs"
	"github.com/waymark-trace/waymark/tracer/internal/model"
)

const (
	patchedWithin = 2 * time.Second
	patchedLook   = 5 * time.Millisecond
)

// patchable is an optimized program with the sites that a tracer wants live.
type patchable struct {
	file  *File
	sites []patchSite
	deaf  bool // it does not look
}

// patchSite is a byte of the file that is another one in memory once it is patched.
type patchSite struct {
	offset uint64
	on     byte
}

func awaitPatched(ctx context.Context, t Target, markers []*Marker) error {
	programs, err := patchables(markers)
	if err != nil || len(programs) == 0 {
		return err
	}
	pids := t.pids
	if len(pids) == 0 {
		if pids, err = procfs.PIDs(); err != nil {
			return fmt.Errorf("listing processes: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, patchedWithin)
	defer cancel()
	for _, p := range programs {
		for _, pid := range pids {
			if t.path != "" && !p.runs(pid) {
				continue
			}
			if err := p.await(ctx, pid); err != nil {
				return err
			}
		}
	}
	return nil
}

// runs reports whether a process runs this program.
func (p *patchable) runs(pid int) bool {
	var st syscall.Stat_t
	return syscall.Stat("/proc/"+strconv.Itoa(pid)+"/exe", &st) == nil && uint64(st.Dev) == model.ID(p.file).Device && st.Ino == model.ID(p.file).Inode
}

// await waits for one process, if it maps this program.
func (p *patchable) await(ctx context.Context, pid int) error {
	memory, err := procfs.OpenMemory(pid, false)
	if err != nil {
		return gone(model.ProcessError("reading the code of", pid, procfs.SysPtrace, err))
	}
	defer memory.Close()
	maps, err := procfs.Maps(pid)
	if err != nil {
		return gone(model.ProcessError("reading the mappings of", pid, procfs.SysPtrace, err))
	}
	for _, s := range p.sites {
		at, ok := codeAddress(maps, model.ID(p.file).Inode, s.offset)
		if !ok {
			continue // of a program that is about to end, or begin
		}
		for {
			var b [1]byte
			if err := memory.Read(b[:], at); err != nil {
				return gone(model.ProcessError("reading the code of", pid, procfs.SysPtrace, err))
			}
			if b[0] == s.on {
				break
			}
			if p.deaf {
				return fmt.Errorf("process %d: %w tracers from outside: it was linked with --no-watch", pid, ErrNotPatched)
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("process %d: %w this tracer within %v: it is stopped, or it may not write its own code", pid, ErrNotPatched, patchedWithin)
			case <-time.After(patchedLook):
			}
		}
	}
	return nil
}

// gone makes nothing of an error that says that the process has ended: nobody waits for it then.
func gone(err error) error {
	if errors.Is(err, ErrNoProcess) {
		return nil
	}
	return err
}

func codeAddress(maps []procfs.Mapping, inode, offset uint64) (uint64, bool) {
	for i := range maps {
		if m := &maps[i]; m.Executable && m.Inode == inode && offset >= m.Offset && offset-m.Offset < m.End-m.Start {
			return m.Start + (offset - m.Offset), true
		}
	}
	return 0, false
}

// patchables reads the site tables of the markers' files.
func patchables(markers []*Marker) (programs []*patchable, err error) {
	byFile := map[*File]map[uint64]uint64{} // counter → what addresses in the code are ahead of file offsets
	var files []*File
	for _, m := range markers {
		if m.File.Optimized == 0 {
			continue
		}
		words := byFile[m.File]
		if words == nil {
			words = map[uint64]uint64{}
			byFile[m.File] = words
			files = append(files, m.File)
		}
		for i := range m.Sites {
			if s := &m.Sites[i]; s.Semaphore != 0 {
				words[uint64(s.Semaphore)] = uint64(s.Address) - uint64(s.Offset)
			}
		}
	}
	for _, f := range files {
		p, err := readPatchable(f, byFile[f])
		if err != nil {
			return nil, fmt.Errorf("reading which sites of %s are optimized: %w", f.Path, err)
		}
		if p != nil {
			programs = append(programs, p)
		}
	}
	return programs, nil
}

// readPatchable returns nil for a file without a site of these words.
func readPatchable(f *File, words map[uint64]uint64) (*patchable, error) {
	opened, err := model.Reopen(f)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	im, err := elffile.FromFile(opened, "")
	if err != nil {
		return nil, err
	}
	defer im.Close()
	table, err := model.SiteTable(im)
	if err != nil || table == nil {
		return nil, err
	}
	le := binary.LittleEndian
	p := &patchable{file: f, deaf: le.Uint64(table[markerabi.OffSitesFlags:])&markerabi.SitesNoWatch != 0}
	for s := table[markerabi.SitesHeaderSize:]; len(s) >= markerabi.SiteSize; s = s[markerabi.SiteSize:] {
		if ahead, ok := words[le.Uint64(s[markerabi.OffSiteWord:])]; ok {
			p.sites = append(p.sites, patchSite{le.Uint64(s) - ahead, s[markerabi.OffSiteOn]})
		}
	}
	if len(p.sites) == 0 {
		return nil, nil
	}
	return p, nil
}
