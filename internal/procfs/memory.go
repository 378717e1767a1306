package procfs

import (
	"encoding/binary"
	"fmt"
	"os"
)

// ReadCounter returns the 16-bit reference counter at an address of a process. It needs what
// ptrace needs. The value is a moment's: the kernel changes it at any time.
func ReadCounter(pid int, address uint64) (uint16, error) {
	f, err := os.Open(path(pid, "mem"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var b [2]byte
	if _, err := f.ReadAt(b[:], int64(address)); err != nil {
		return 0, fmt.Errorf("reading the counter at %#x of process %d: %w", address, pid, err)
	}
	return binary.NativeEndian.Uint16(b[:]), nil
}
