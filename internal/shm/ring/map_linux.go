package ring

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// reserve makes sure that every page of the file can be written: on a full file system the
// error comes here, and not as a signal in the middle of the program.
func reserve(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fill(f, size)
	}
	if err != nil {
		return fmt.Errorf("reserving %d bytes for %s: %w", size, f.Name(), err)
	}
	return nil
}

// createSealed makes memory of a fixed size, for good: a process that has it cannot shrink it under
// the program, which would die of SIGBUS at its next store.
func createSealed(size int64) (memory []byte, f *os.File, release func() error, err error) {
	const name, flags = "waymark rings", unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL)
	if err == unix.EINVAL { // before Linux 6.3
		fd, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return nil, nil, nil, os.NewSyscallError("memfd_create", err)
	}
	f = os.NewFile(uintptr(fd), name)
	if err = reserve(f, size); err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
		err = os.NewSyscallError("sealing "+name, err)
	}
	if err == nil {
		memory, err = mapShared(f, size)
	}
	if err != nil {
		f.Close()
		return nil, nil, nil, err
	}
	return memory, f, func() error { return errors.Join(unix.Munmap(memory), f.Close()) }, nil
}

// populate has the pages mapped at once: a writer would meet the faults otherwise.
const populate = unix.MAP_POPULATE
