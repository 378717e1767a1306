//go:build unix

package ring

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// createMapped creates a file that only its owner can open, and maps it.
func createMapped(path string, size int64) (memory []byte, release func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err = reserve(f, size); err == nil {
		memory, err = mapShared(f, size)
	}
	if err != nil {
		os.Remove(path)
		return nil, nil, err
	}
	return memory, func() error { return unix.Munmap(memory) }, nil
}

// mapShared maps a file that is reserved.
func mapShared(f *os.File, size int64) ([]byte, error) {
	memory, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|populate)
	if err != nil {
		return nil, fmt.Errorf("mapping %s: %w", f.Name(), err)
	}
	return memory, nil
}

// stored returns how many bytes of a file are not holes.
func stored(info os.FileInfo) uint64 {
	return 512 * uint64(info.Sys().(*syscall.Stat_t).Blocks)
}

// fill writes zeros.
func fill(f *os.File, size int64) error {
	zeros := make([]byte, 1<<20)
	for at := int64(0); at < size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return fmt.Errorf("reserving %d bytes for %s: %w", size, f.Name(), err)
		}
	}
	return nil
}

// mapForReading maps a file, its pages from consumed to data writable if the file was opened so.
func mapForReading(f *os.File, size, consumed, data uint64) (memory, words []byte, release func() error, err error) {
	memory, err = unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("mapping: %w", err)
	}
	words, err = unix.Mmap(int(f.Fd()), int64(consumed), int(data-consumed), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil { // a file that was opened for reading alone
		words = nil
	}
	return memory, words, func() error {
		if words != nil {
			unix.Munmap(words)
		}
		return unix.Munmap(memory)
	}, nil
}
