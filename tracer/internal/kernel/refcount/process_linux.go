package refcount

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/waymark-trace/waymark/internal/procfs"
	"golang.org/x/sys/unix"
)

// State is the state of a reference counter of a file in a process.
type State struct {
	Offset   uint64 // in the file
	Address  uint64 // in the process
	Value    uint16
	Initial  uint16 // in the file: the value without a tracer
	Attached int    // how many of its sites have another instruction than the file
	Sites    int
	// Debugger is the process that traces this one by ptrace, 0 for none. A debugger takes its
	// breakpoints out of a stopped process; a counter raised meanwhile is its own.
	Debugger int
}

// Leaked reports whether the counter is raised although no tracer is attached to any of its sites:
// a tracer died before the counter was lowered. A tracer that probes with hardware breakpoints from
// elsewhere is not seen. Raising and changing the instruction are not one step, so only a state
// that lasts is certain.
func (s *State) Leaked() bool {
	return s.Value != s.Initial && s.Attached == 0 && s.Sites > 0 && s.Debugger == 0
}

// Probed reports whether the counter is raised and a site has a probe. Either a tracer is attached, or the kernel could not
// take the probe away for a process that was being killed ("failed to unregister, leaking uprobe").
func (s *State) Probed() bool { return s.Value != s.Initial && s.Attached > 0 && s.Debugger == 0 }

// Process reads the counters of a process. It is tied to the program that the process ran when it
// was opened.
type Process struct {
	pid    int
	start  uint64
	memory *procfs.Memory
	maps   []procfs.Mapping
}

// OpenProcess opens a process for reading its counters, and with write for repairing them.
func OpenProcess(pid int, write bool) (*Process, error) {
	st, err := procfs.ReadStat(pid)
	if err == nil && (st.Kernel || st.State == 'Z' || st.State == 'X') {
		err = unix.ESRCH
	}
	if err != nil {
		return nil, err
	}
	m, err := procfs.OpenMemory(pid, write)
	if err != nil {
		return nil, err
	}
	p := &Process{pid: pid, start: st.Start, memory: m}
	if p.maps, err = procfs.Maps(pid); err != nil {
		m.Close()
		return nil, err
	}
	return p, nil
}

// Start returns the time when the process began, which with its number identifies it.
func (p *Process) Start() uint64 { return p.start }

// Close closes the process's memory.
func (p *Process) Close() error { return p.memory.Close() }

// States returns the state of a counter in every mapping that holds it. sites are the
// offsets of the instructions in the file that it guards, all of them.
func (p *Process) States(file *os.File, counter uint64, sites []uint64) ([]State, error) {
	f, err := newFile(file, counter)
	if err != nil {
		return nil, err
	}
	defer f.close()
	return p.states(f, sites)
}

func (p *Process) states(f *file, sites []uint64) (all []State, err error) {
	var initial [2]byte
	if _, err := f.file.ReadAt(initial[:], int64(f.counter)); err != nil {
		return nil, fmt.Errorf("the counter's place in the file: %w", err)
	}
	attached := 0
	for _, site := range sites {
		changed, err := p.changed(f, site)
		if err != nil {
			return nil, fmt.Errorf("the instruction at %#x in the file: %w", site, err)
		}
		if changed {
			attached++
		}
	}
	debugger, err := procfs.TracerPID(p.pid)
	if err != nil {
		return nil, err
	}
	for _, address := range f.addresses(p.pid, p.maps) {
		v, err := p.memory.Counter(address)
		if err != nil {
			return nil, err
		}
		all = append(all, State{f.counter, address, v, binary.NativeEndian.Uint16(initial[:]), attached, len(sites), debugger})
	}
	return all, nil
}

// window is the number of bytes at a site that are compared with the file: all that a tracer may
// change. A tracer may write a breakpoint at the site. For kernels that optimize a nop to a call,
// some tools write it at the nop after the site (libbpf's usdt.c, has_nop_combo; the second nop of
// our stubs), and the kernel replaces that nop with the call. If another attached site is within
// the window, this one appears attached too. Its counter is then left unchanged, which is safe.
const window = 16

// changed reports whether a site's instruction is not the file's, in any mapping of it.
func (p *Process) changed(f *file, site uint64) (bool, error) {
	want := make([]byte, window)
	n, err := f.file.ReadAt(want, int64(site))
	if n == 0 && err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	want = want[:n]
	for i := range p.maps {
		m := &p.maps[i]
		if !m.Executable || m.Inode != f.inode || !f.isMapped(p.pid, m) || site < m.Offset || site-m.Offset >= m.End-m.Start {
			continue
		}
		address := m.Start + (site - m.Offset)
		got := make([]byte, min(uint64(len(want)), m.End-address))
		if err := p.memory.Read(got, address); err != nil {
			return false, err
		}
		if !sameCode(got, want[:len(got)]) {
			return true, nil
		}
	}
	return false, nil
}

// nop10 is how the 10-byte nop begins that Linux 7.2 makes a call of. When it takes the probe away
// it puts these bytes back and leaves the last five (int3_update_unoptimize,
// arch/x86/kernel/uprobes.c): the instruction is a nop all the same.
var nop10 = []byte{0x66, 0x2e, 0x0f, 0x1f, 0x84}

// sameCode compares instructions. It ignores the bytes of a call that the kernel leaves in a
// 10-byte nop.
func sameCode(got, want []byte) bool {
	if at := bytes.Index(want, nop10); at >= 0 && len(got) >= at+len(nop10) {
		got, want = bytes.Clone(got), bytes.Clone(want)
		for i := at + len(nop10); i < min(at+10, len(got)); i++ {
			got[i] = want[i]
		}
	}
	return bytes.Equal(got, want)
}

// ErrNotLeaked means that a counter is no longer as it was seen.
var ErrNotLeaked = errors.New("it changed since it was read")

// Repair gives a counter its initial value back, if it still has the value that was seen and no
// tracer has attached since.
func (p *Process) Repair(file *os.File, sites []uint64, seen State) error {
	f, err := newFile(file, seen.Offset)
	if err != nil {
		return err
	}
	defer f.close()
	defer f.unlock()
	if err := f.lock(); err != nil {
		return err
	}
	now, err := p.states(f, sites)
	if err != nil {
		return err
	}
	for i := range now {
		if s := &now[i]; s.Address == seen.Address {
			if *s != seen || !s.Leaked() {
				break
			}
			return p.memory.SetCounter(s.Address, s.Initial)
		}
	}
	return fmt.Errorf("the counter at %#x: %w", seen.Address, ErrNotLeaked)
}
