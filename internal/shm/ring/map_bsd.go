//go:build unix && !linux

package ring

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

func createSealed(int64) ([]byte, *os.File, func() error, error) {
	return nil, nil, nil, fmt.Errorf("sealed rings on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// reserve makes sure that every page of the file can be written: on a full file system the
// error comes here, and not as a signal in the middle of the program.
func reserve(f *os.File, size int64) error { return fill(f, size) }

const populate = 0
