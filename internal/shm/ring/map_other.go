//go:build !unix

package ring

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

func createMapped(path string, _ int64) ([]byte, func() error, error) {
	return nil, nil, fmt.Errorf("rings in a file (%s) on %s: %w", path, runtime.GOOS, errors.ErrUnsupported)
}

func createSealed(int64) ([]byte, *os.File, func() error, error) {
	return nil, nil, nil, fmt.Errorf("sealed rings on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func stored(info os.FileInfo) uint64 { return uint64(info.Size()) }

// mapForReading reads the file into memory: nobody writes it on this platform.
func mapForReading(f *os.File, size, _, _ uint64) (memory, words []byte, release func() error, err error) {
	memory = make([]byte, size)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(size)), memory)
	return memory, nil, func() error { return nil }, err
}
