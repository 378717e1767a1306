package main

import "golang.org/x/sys/unix"

func threadTime() int64  { return cpuTime(unix.CLOCK_THREAD_CPUTIME_ID) }
func processTime() int64 { return cpuTime(unix.CLOCK_PROCESS_CPUTIME_ID) }

func cpuTime(clock int32) int64 {
	var t unix.Timespec
	fatal(unix.ClockGettime(clock, &t))
	return t.Nano()
}
