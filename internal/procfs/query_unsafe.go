//go:build linux && (386 || amd64 || arm || arm64 || loong64 || riscv64 || s390x)

package procfs

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// mappingQuery is struct procmap_query of include/uapi/linux/fs.h.
type mappingQuery struct {
	size, flags, address                uint64
	start, end, permissions, pageSize   uint64
	offset, inode                       uint64
	major, minor, nameSize, buildIDSize uint32
	name, buildID                       uint64
}

const (
	// queryMapping is PROCMAP_QUERY, as most machines encode the numbers of ioctls. mips, ppc64 and
	// sparc64 do it differently and read the text.
	queryMapping = 3<<30 | uint32(unsafe.Sizeof(mappingQuery{}))<<16 | 'f'<<8 | 17

	queryExecutable = 0x04
	queryNext       = 0x10 // the mapping at the address, or the next one after it
	queryFile       = 0x20

	mappingWritable, mappingShared = 0x02, 0x08
)

// queryExecutables is executables by ioctl(PROCMAP_QUERY) on the open file maps of a process, since Linux
// 6.11. It returns errors.ErrUnsupported where the text has to be read instead.
func queryExecutables(f *os.File) (all []Mapping, err error) {
	name := make([]byte, 4096)
	var pin runtime.Pinner
	pin.Pin(&name[0]) // the kernel gets its address as a number
	defer pin.Unpin()
	for at := uint64(0); ; {
		q := &mappingQuery{
			size: uint64(unsafe.Sizeof(mappingQuery{})), flags: queryExecutable | queryNext | queryFile, address: at,
			name: uint64(uintptr(unsafe.Pointer(&name[0]))), nameSize: uint32(len(name)),
		}
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), uintptr(queryMapping), uintptr(unsafe.Pointer(q)))
		switch errno {
		case 0:
		case syscall.EINTR:
			continue
		case syscall.ENOENT, syscall.ESRCH: // no mapping is left; the process has ended, and maps nothing
			return all, nil
		default: // an older kernel, a filter of system calls, a path of more than a page: the text has its own errors
			return nil, errors.ErrUnsupported
		}
		if q.end <= at || len(all) == MaxMappings {
			return nil, errors.ErrUnsupported // it does not advance: the text has the same bounds
		}
		text := name[:min(uint64(q.nameSize), uint64(len(name)))]
		text, _, _ = bytes.Cut(text, []byte{0})
		m := Mapping{
			Start: q.start, End: q.end, Executable: true, Writable: q.permissions&mappingWritable != 0, Private: q.permissions&mappingShared == 0,
			Offset: q.offset, Device: Device{q.major, q.minor}, Inode: q.inode,
		}
		m.Path, m.Deleted = strings.CutSuffix(string(text), deletedSuffix)
		all = append(all, m)
		at = q.end
	}
}
