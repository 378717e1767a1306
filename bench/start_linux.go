package main

import (
	"os"
	"syscall"
)

func pageFaults(s *os.ProcessState) (float64, bool) {
	usage, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return float64(usage.Minflt), true
}
