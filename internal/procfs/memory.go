package procfs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Memory is the memory of a process as it was when it was opened. The kernel ties it to the
// address space (proc_mem_open, fs/proc/base.c): once the process has ended or executed another
// program, reads and writes reach nothing, whatever has the number by then.
type Memory struct{ f *os.File }

// OpenMemory opens the memory of a process, with the same permission as ptrace.
func OpenMemory(pid int, write bool) (*Memory, error) {
	flag := os.O_RDONLY
	if write {
		flag = os.O_RDWR
	}
	f, err := os.OpenFile(path(pid, "mem"), flag, 0)
	if err != nil {
		return nil, err
	}
	return &Memory{f}, nil
}

// Close lets go of it.
func (m *Memory) Close() error { return m.f.Close() }

// Read reads len(b) bytes at an address. The error wraps fs.ErrNotExist when the address space
// is gone.
func (m *Memory) Read(b []byte, address uint64) error {
	_, err := m.f.ReadAt(b, int64(address))
	return gone(err)
}

// Write writes bytes at an address, through the protection of pages, as ptrace does.
func (m *Memory) Write(b []byte, address uint64) error {
	n, err := m.f.WriteAt(b, int64(address))
	if n == 0 && (err == nil || errors.Is(err, io.ErrShortWrite) || errors.Is(err, io.ErrUnexpectedEOF)) {
		err = io.EOF
	}
	return gone(err)
}

// gone gives the end of file its meaning here: mem_rw returns 0 for an address space
// without users.
func gone(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the address space has ended: %w", fs.ErrNotExist)
	}
	return err
}

// Counter returns the 16-bit reference counter at an address. The value is a moment's: the
// kernel and other tracers change it at any time.
func (m *Memory) Counter(address uint64) (uint16, error) {
	var b [2]byte
	if err := m.Read(b[:], address); err != nil {
		return 0, fmt.Errorf("reading the counter at %#x: %w", address, err)
	}
	return binary.NativeEndian.Uint16(b[:]), nil
}

// SetCounter writes a reference counter.
func (m *Memory) SetCounter(address uint64, value uint16) error {
	b := binary.NativeEndian.AppendUint16(nil, value)
	if err := m.Write(b, address); err != nil {
		return fmt.Errorf("writing the counter at %#x: %w", address, err)
	}
	return nil
}

// ReadCounter returns the 16-bit reference counter at an address of a process. It needs the same
// permission as ptrace.
func ReadCounter(pid int, address uint64) (uint16, error) {
	m, err := OpenMemory(pid, false)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	v, err := m.Counter(address)
	if err != nil {
		return 0, fmt.Errorf("process %d: %w", pid, err)
	}
	return v, nil
}
