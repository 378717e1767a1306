package procfs

import (
	"errors"
	"os"
	"syscall"
)

// open opens a file of /proc. os.Open would also try to register it with the runtime's poller, which
// refuses these files: six system calls instead of two, for each of hundreds of files when all
// processes are read.
func open(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, syscall.EINTR):
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
