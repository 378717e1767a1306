package main

import (
	"debug/elf"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// forgetFile has the kernel forget what of a file is in memory.
func forgetFile(path string) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	f.Sync()
	unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// peakMemory is the most that a process had in memory at a time, in bytes, what it shared included.
func peakMemory(s *os.ProcessState) float64 {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return float64(usage.Maxrss) * 1024
}

// debugSize returns the size of a file's debugging information when it is not compressed, in bytes.
func debugSize(path string) (size uint64, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for _, s := range f.Sections {
		if strings.HasPrefix(s.Name, ".debug_") {
			size += s.Size
		}
	}
	return size, nil
}
