package debuginfo

import (
	"os"
	"syscall"
)

// mapped returns size bytes of a file from an offset, which stay in the file until they are looked
// at. A file that is cut off meanwhile is a fault then, which Guard turns into an error.
func mapped(f *os.File, offset, size int64) (data []byte, unmap func() error, err error) {
	info, err := f.Stat()
	if err != nil || offset < 0 || size <= 0 || offset > info.Size() || size > info.Size()-offset {
		return nil, nil, syscall.EINVAL
	}
	skip := offset % int64(os.Getpagesize())
	all, err := syscall.Mmap(int(f.Fd()), offset-skip, int(size+skip), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return all[skip:], func() error { return syscall.Munmap(all) }, nil
}

// anonymous returns size bytes of memory, all zero, of which pages are there once they are written.
func anonymous(size int64) (data []byte, unmap func() error, err error) {
	if data, err = syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE); err != nil {
		return nil, nil, err
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
