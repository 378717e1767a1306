//go:build linux

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// countUprobe has the kernel count how often a thread passes a place of a file: the least that a probe of
// the kernel's can do. While it does, it raises the reference counter at that offset, 0 for none.
func countUprobe(thread int, path string, offset, counter uint64) (undo func(), err error) {
	text, err := os.ReadFile("/sys/bus/event_source/devices/uprobe/type")
	if err != nil {
		return nil, err
	}
	kind, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 32)
	if err != nil {
		return nil, err
	}
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return nil, err
	}
	const counterShift = 32 // /sys/bus/event_source/devices/uprobe/format/ref_ctr_offset
	attr := unix.PerfEventAttr{
		Type: uint32(kind), Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Config: counter << counterShift, Ext1: uint64(uintptr(unsafe.Pointer(name))), Ext2: offset,
	}
	fd, err := unix.PerfEventOpen(&attr, thread, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("perf_event_open of a uprobe at 0x%x of %s: %w", offset, path, err)
	}
	return func() { unix.Close(fd) }, nil
}
