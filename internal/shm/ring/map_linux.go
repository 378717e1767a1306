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

// populate has the pages mapped at once: a writer would meet the faults otherwise.
const populate = unix.MAP_POPULATE
